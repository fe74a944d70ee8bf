package forge

import (
	"net/http"
	"sync/atomic"
	"time"
)

// inexact is what two clocks seem apart that agree: GitHub tells whole seconds, and an
// answer takes a moment.
const inexact = 2 * time.Second

// clock knows how far this machine's is ahead of GitHub's.
type clock struct{ ahead atomic.Int64 }

// hear takes what an answer says of the time
// (https://www.rfc-editor.org/rfc/rfc9110#name-date). One that says nothing changes nothing.
func (c *clock) hear(answer http.Header, now time.Time) {
	theirs, err := http.ParseTime(answer.Get("Date"))
	if err != nil {
		return
	}
	ahead := now.Sub(theirs)
	if ahead.Abs() < inexact {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}
