package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
)

// The time to wait after trouble that lies outside any pull request: GitHub or the
// way to it is down, or it asks to be left alone. It doubles from one to the next.
const (
	firstWait = 5 * time.Second
	longWait  = 5 * time.Minute
	// longHeld is the longest of them at a standstill, which other pull requests and new
	// settings end early.
	longHeld = 15 * time.Minute
)

// longestWait bounds what a model's provider can ask for.
const longestWait = time.Hour

// trouble is a run of errors of one kind. The first is logged, and the end of the run;
// those in between are logged at debug level.
type trouble struct {
	what string
	n    int
	// held says that it is of a standstill, which is told elsewhere.
	held bool
}

// met takes note of one more error and says how long to wait, at the least as long
// as GitHub or a model's provider asks for.
func (t *trouble) met(ctx context.Context, err error) time.Duration {
	longest := longWait
	if t.held {
		longest = longHeld
	}
	wait := min(firstWait<<min(t.n, 10), longest)
	if limited := new(forge.Error); errors.As(err, &limited) {
		wait = max(wait, limited.RetryAfter)
	}
	if resting := new(engine.Error); errors.As(err, &resting) {
		wait = max(wait, min(resting.RetryAfter, longestWait))
	}
	level := zerolog.WarnLevel
	if t.n > 0 || t.held || ctx.Err() != nil {
		level = zerolog.DebugLevel
	}
	zerolog.Ctx(ctx).WithLevel(level).Err(err).Stringer("retry_in", wait.Round(time.Second)).Msg(t.what + "; trying again")
	t.n++
	return wait
}

// over ends the run.
func (t *trouble) over(ctx context.Context) {
	if t.n > 0 && !t.held {
		zerolog.Ctx(ctx).Info().Int("errors", t.n).Msg("it goes on")
	}
	t.n = 0
}
