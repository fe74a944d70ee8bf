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

// Between two looks at a condition lies a twentieth of the time that it was waited for so far, within
// these bounds: looks take from a busy machine what the awaited needs, and requests from GitHub's limit.
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

// Condition waits until a condition holds. It returns the condition's error, or the context's if
// that ends first.
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
