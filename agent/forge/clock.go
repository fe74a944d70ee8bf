package forge

import (
	"net/http"
	"sync"
	"time"
)

// inexact is how far apart two equal clocks can seem: GitHub reports whole seconds, and an answer takes a
// moment.
const inexact = 2 * time.Second

// clock tells GitHub's time: the time in the last answer, plus the time since then on the monotonic clock.
// Changes of this machine's clock have no effect. The clock only goes back if GitHub's own did, or after this
// machine slept; an answer within the present second changes nothing.
type clock struct {
	mu       sync.Mutex
	answered time.Time // when the last answer arrived, by this machine's clock; zero before the first
	github   time.Time // the same time by GitHub's clock
}

// set takes the time from an answer (https://www.rfc-editor.org/rfc/rfc9110#name-date). An answer without it
// changes nothing.
func (c *clock) set(answer http.Header, now time.Time) {
	theirs, err := http.ParseTime(answer.Get("Date"))
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	expected := now.Round(0)
	if !c.answered.IsZero() {
		expected = c.github.Add(now.Sub(c.answered))
	}
	if expected.Sub(theirs).Abs() >= inexact {
		expected = theirs
	}
	c.answered, c.github = now, expected
}

// apart is how far this machine's clock was ahead at GitHub's last answer; zero before the first.
func (c *clock) apart() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered.Round(0).Sub(c.github)
}

// now is GitHub's time or, before its first answer, this machine's.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered.IsZero() {
		return time.Now()
	}
	return c.github.Add(time.Since(c.answered))
}

// Now is the present time by GitHub's clock, to the second. All other times from GitHub use that clock too.
// Before GitHub's first answer it is this machine's time.
func (c *Client) Now() time.Time { return c.clock.now() }
