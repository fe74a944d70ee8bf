package githubsim

import (
	"sync/atomic"
	"time"
)

// clock is GitHub's clock.
type clock struct{ ahead atomic.Int64 }

// Now returns GitHub's time: UTC in whole seconds.
func (c *clock) Now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load())).UTC().Truncate(time.Second)
}

// Advance moves GitHub's clock forward, or back by a negative duration. Later events get the new time, and so
// does everyone who reads GitHub, because its responses carry the time.
func (c *clock) Advance(by time.Duration) { c.ahead.Add(int64(by)) }
