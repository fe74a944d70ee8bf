package forge

import (
	"net/http"
	"sync"
	"time"
)

// inexact is what two clocks seem apart that agree: GitHub tells whole seconds, and an
// answer takes a moment.
const inexact = 2 * time.Second

// clock tells GitHub's time: what an answer said, and what has passed since by the monotonic clock. When
// this machine's is set meanwhile, that changes nothing. It goes back only where GitHub's own has, or that
// of a machine that slept: an answer that says the second in which it is by this clock changes nothing.
type clock struct {
	mu       sync.Mutex
	answered time.Time // when the last answer came, by this machine; zero before the first
	github   time.Time // when that was by GitHub
}

// set takes what an answer says of the time
// (https://www.rfc-editor.org/rfc/rfc9110#name-date). One that says nothing changes nothing.
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

// apart is how far this machine's clock was ahead when GitHub answered last; zero before it has.
func (c *clock) apart() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered.Round(0).Sub(c.github)
}

// now is GitHub's time, and this machine's before it has answered.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered.IsZero() {
		return time.Now()
	}
	return c.github.Add(time.Since(c.answered))
}

// Now is the present by GitHub's clock, to the second: what else GitHub tells of times is by that
// one. Before GitHub has answered anything it is this machine's.
func (c *Client) Now() time.Time { return c.clock.now() }
