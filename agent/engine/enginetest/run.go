package enginetest

import (
	"context"
	"errors"

	"touchstone/agent/engine"
)

// Run opens a session, runs one turn and closes it. For what it returns see engine.Session; leftovers of the
// session are an error too.
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
