package githubsim

import (
	"sync/atomic"
	"time"
)

// clock is GitHub's clock.
type clock struct{ ahead atomic.Int64 }

// Now is GitHub's time: UTC in whole seconds.
func (c *clock) Now() time.Time { return c.now() }

func (c *clock) now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load())).UTC().Truncate(time.Second)
}

// Advance sets GitHub's clock forward, or back by a negative time. What happens next happens that much later for
// all who read GitHub, whose answers carry its time.
func (c *clock) Advance(by time.Duration) { c.ahead.Add(int64(by)) }
