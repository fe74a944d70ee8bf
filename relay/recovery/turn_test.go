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

// A relay that gives signs of life keeps the turn; one that gives none loses it, and learns so.
func TestLeaseOfADeadRelayIsTakenOver(t *testing.T) {
	t.Parallel()
	shared := notes(t)
	one, two := turn{notes: shared, lease: 200 * time.Millisecond}, turn{notes: shared, lease: 200 * time.Millisecond}
	if err := one.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := two.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.lease = time.Millisecond
	if err := one.keep(t.Context()); !errors.Is(err, errTurnLost) {
		t.Errorf("who lost the turn keeps it: %v", err)
	}
	if err := one.end(t.Context()); err != nil {
		t.Error(err)
	}
	if held, err := two.held(t.Context()); err != nil || !held {
		t.Errorf("another one ended the turn of who has it, %v", err)
	}

	// Two keeps it, which takes writing it more than once within the third one's lease.
	keeping, stop := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	two.lease = 50 * time.Millisecond
	go func() { kept <- two.keep(keeping) }()
	waiting, giveUp := context.WithTimeout(t.Context(), 7*time.Second)
	defer giveUp()
	three := turn{notes: shared, lease: 5 * time.Second}
	if err := three.take(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a turn was taken from who gives signs of life: %v", err)
	}
	stop()
	if err := <-kept; err != nil {
		t.Error(err)
	}
}
