// Package await is how tests wait: for a condition, and never for a time.
package await

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a test waits for what it expects: far longer than that takes, however busy
// the machine is.
const Patience = 5 * time.Minute

// interval is the time between two looks at a condition.
const interval = 5 * time.Millisecond

// Until waits until a condition holds, and fails the test if it does not within Patience.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := Condition(ctx, func() (bool, error) { return holds(), nil }); err != nil {
		t.Fatalf("still waiting for: %s", what)
	}
}

// Condition waits until a condition holds. It returns the condition's error, or the context's if
// that ends first.
func Condition(ctx context.Context, holds func() (bool, error)) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
