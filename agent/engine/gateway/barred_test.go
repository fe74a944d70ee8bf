package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/usage"
)

// TestABarredModelIsNotAskedFor, from one request to the next, and its turn ends.
func TestABarredModelIsNotAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	var barred error
	account := usage.Open(engine.Request{Asks: func(model string) error {
		if model != "model-1" {
			t.Errorf("told of the model %q", model)
		}
		return barred
	}}, nil)
	g := openAt(t, serve(t, func(http.ResponseWriter, *http.Request) { asked++ }), account)
	ctx, giveUp := context.WithCancel(t.Context())
	turn := g.Begin(giveUp)
	if status, _ := ask(t, g, "X-Api-Key", g.Token); status != http.StatusOK || asked != 1 || turn.Over() != nil {
		t.Errorf("status %d, asked %d times; %v", status, asked, turn.Over())
	}
	barred = errors.New("it is switched off")
	status, said := ask(t, g, "X-Api-Key", g.Token)
	if over := turn.Over(); status != http.StatusForbidden || asked != 1 || over == nil || over.Class != engine.Cancelled ||
		!errors.Is(over, barred) || ctx.Err() == nil {
		t.Errorf("status %d (%s), asked %d times; %v", status, said, asked, over)
	}
}
