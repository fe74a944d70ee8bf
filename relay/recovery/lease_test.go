package recovery

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"touchstone/relay/internal/sqlite"
)

// notes returns a place for notes, like that beside a log.
func notes(t *testing.T) notebook {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// A relay that renews the lease keeps it; one that does not loses it, and learns so.
func TestLeaseOfADeadRelayIsTakenOver(t *testing.T) {
	t.Parallel()
	shared := notes(t)
	one, two := lease{notes: shared, length: 200 * time.Millisecond}, lease{notes: shared, length: 200 * time.Millisecond}
	if err := one.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := two.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.length = time.Millisecond
	if err := one.keep(t.Context()); !errors.Is(err, errLeaseLost) {
		t.Errorf("a relay that lost the lease keeps it: %v", err)
	}
	if err := one.release(t.Context()); err != nil {
		t.Error(err)
	}
	if held, err := two.held(t.Context()); err != nil || !held {
		t.Errorf("another relay released the lease of its holder, %v", err)
	}

	// Two keeps it, which takes writing it more than once within the third one's lease.
	keeping, stop := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	two.length = 50 * time.Millisecond
	go func() { kept <- two.keep(keeping) }()
	waiting, giveUp := context.WithTimeout(t.Context(), 7*time.Second)
	defer giveUp()
	three := lease{notes: shared, length: 5 * time.Second}
	if err := three.take(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the lease was taken from a relay that renews it: %v", err)
	}
	stop()
	if err := <-kept; err != nil {
		t.Error(err)
	}
}
