package gateway

import (
	"net/http"
	"strconv"
	"time"
)

// untoldWait is how long a CLI waits, once the provider has answered in the session, if the provider refuses for now
// and does not say for how long. The waits between maxRefusals requests add up to maxWaitBegun. Otherwise a CLI asks
// for the last time within a few seconds, which no overload is over in: codex does not ask again after a 429, and
// claude gives up at the third 529 in a row (seen in 0.169.0 and 2.1.329, which wait as long as they are told).
const untoldWait = maxWaitBegun / (maxRefusals - 1)

// aliveEvery is the time between two signs of life of a CLI that waits because the provider asks it to. It is changed
// only by tests.
var aliveEvery = 10 * time.Second

// refuse records a refusal that the CLI gets with a header, if it can still be changed. While the CLI waits before it asks
// again, the session is alive and can say so.
func (g *Gateway) refuse(turn *Turn, r Refusal, header http.Header) {
	untold := r.RetryAfter == 0 && header != nil && header.Get("Retry-After") == ""
	wait, goesOn := turn.refuse(r, untold)
	if !goesOn {
		return
	}
	if untold && wait > 0 {
		header.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	}
	g.signal()
	g.awake(time.Now().Add(wait))
}

// Wait is a CLI's wait after a refusal.
type Wait struct {
	Refusal
	// Refusals counts the refusals in a row.
	Refusals int
	// Told is how long the CLI was told to wait; zero if it was not.
	Told time.Duration
}

// Waiting reports whether the CLI is waiting before it repeats a refused request. Again is false the first time that this
// is reported for a refusal.
func (t *Turn) Waiting() (wait Wait, again, waiting bool) {
	t.locked(func() {
		wait, again, waiting = Wait{t.last, t.refusals, t.wait}, t.reported, t.expected
		t.reported = waiting
	})
	return wait, again, waiting
}

// awake keeps a session from looking idle while its CLI waits for some time.
func (g *Gateway) awake(until time.Time) {
	select {
	case <-g.served:
		return
	default:
	}
	if time.Now().Before(until) {
		time.AfterFunc(aliveEvery, func() {
			g.signal()
			g.awake(until)
		})
	}
}
