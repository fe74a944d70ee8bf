package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
)

// How long to wait after an error that is not about one pull request: GitHub or the network is down, or
// GitHub asks to wait. The wait doubles with each error in a row, from firstWait to longWait.
const (
	firstWait = 5 * time.Second
	longWait  = 5 * time.Minute
	// longHeld is the longest wait in a standstill, which other pull requests and new settings end early.
	longHeld = 15 * time.Minute
)

// trouble is a series of errors of one kind. The first error and the end of the series are logged; the errors
// in between are logged at debug level.
type trouble struct {
	what string
	n    int
	// held says that the errors belong to a standstill, which is logged elsewhere.
	held bool
}

// met records one more error and returns how long to wait: at least as long as GitHub or a model's provider
// asks for.
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
		wait = max(wait, min(resting.RetryAfter, engine.LongestWait))
	}
	level := zerolog.WarnLevel
	if t.n > 0 || t.held || ctx.Err() != nil {
		level = zerolog.DebugLevel
	}
	zerolog.Ctx(ctx).WithLevel(level).Err(err).Stringer("retry_in", wait.Round(time.Second)).Msg(t.what + "; trying again")
	t.n++
	return wait
}

// over ends the series.
func (t *trouble) over(ctx context.Context) {
	if t.n > 0 && !t.held {
		zerolog.Ctx(ctx).Info().Int("errors", t.n).Msg("the agent works again")
	}
	t.n = 0
}
