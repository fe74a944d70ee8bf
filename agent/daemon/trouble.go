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
)

// trouble is a run of errors of one kind. The first is told, and that it is over;
// those in between are for whoever debugs.
type trouble struct {
	what string
	n    int
}

// met takes note of one more error and says how long to wait, at the least as long
// as GitHub or a model's provider asks for.
func (t *trouble) met(ctx context.Context, err error) time.Duration {
	wait := min(firstWait<<min(t.n, 10), longWait)
	if limited := new(forge.Error); errors.As(err, &limited) {
		wait = max(wait, limited.RetryAfter)
	}
	if resting := new(engine.Error); errors.As(err, &resting) {
		wait = max(wait, resting.RetryAfter)
	}
	level := zerolog.WarnLevel
	if t.n > 0 || ctx.Err() != nil {
		level = zerolog.DebugLevel
	}
	zerolog.Ctx(ctx).WithLevel(level).Err(err).Stringer("retry_in", wait.Round(time.Second)).Msg(t.what + "; trying again")
	t.n++
	return wait
}

// over ends the run.
func (t *trouble) over(ctx context.Context) {
	if t.n > 0 {
		zerolog.Ctx(ctx).Info().Int("errors", t.n).Msg("it goes on")
	}
	t.n = 0
}
