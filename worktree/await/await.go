// Package await lets tests wait for a condition, and never for a fixed time.
package await

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a test waits for a condition: far longer than it takes, however busy the machine is.
const Patience = 5 * time.Minute

// The pause between two checks of a condition is a twentieth of the time waited so far, within these bounds.
// Each check takes processor time from the awaited work on a busy machine, and requests from GitHub's limit.
const (
	shortest = 5 * time.Millisecond
	longest  = 100 * time.Millisecond
)

// Until waits until a condition holds, and fails the test if it does not within Patience.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := Condition(ctx, func() (bool, error) { return holds(), nil }); err != nil {
		t.Fatalf("still waiting for: %s", what)
	}
}

// Condition waits until a condition holds. It returns the condition's error, or the context's error if that
// ends first.
func Condition(ctx context.Context, holds func() (bool, error)) error {
	began := time.Now()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-time.After(min(longest, max(shortest, time.Since(began)/20))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
