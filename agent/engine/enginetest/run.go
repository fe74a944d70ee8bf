package enginetest

import (
	"context"
	"errors"

	"touchstone/agent/engine"
)

// Run holds a session of one turn and closes it; see engine.Session for what it returns. That
// something is left of the session is an error too.
func Run(ctx context.Context, e engine.Engine, req engine.Request, prompt string) (engine.Result, error) {
	s, err := e.Open(ctx, req)
	if err != nil {
		return engine.Result{}, err
	}
	result, err := s.Ask(ctx, prompt)
	if closing := s.Close(); closing != nil {
		err = errors.Join(err, closing)
	}
	return result, err
}
