package daemon

import (
	"fmt"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
)

// TestAModelThatRestsIsWaitedFor checks that a wait for a resting model does not count as an attempt, since
// nothing was tried.
func TestAModelThatRestsIsWaitedFor(t *testing.T) {
	t.Parallel()
	resting := fmt.Errorf("review: %w", &engine.Error{Class: engine.Overloaded, Message: "it rests", RetryAfter: 40 * time.Minute,
		Err: fallback.ErrResting})
	if worker.CountsAsAttempt(resting, worker.Step{}) {
		t.Error("it counts as an attempt")
	}
	run := trouble{}
	if wait := run.met(t.Context(), resting); wait != 40*time.Minute {
		t.Errorf("it is tried again in %s", wait)
	}
	if wait := run.met(t.Context(), forge.ErrUnavailable); wait >= 40*time.Minute {
		t.Errorf("an outage is waited out for %s", wait)
	}
}
