package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// askedStore counts how often it is asked for its bounds, and fails while err is set.
type askedStore struct {
	hub.Store
	asked int
	err   error
}

func (s *askedStore) Bounds(ctx context.Context) (hub.Bounds, error) {
	if s.asked++; s.err != nil {
		return hub.Bounds{}, s.err
	}
	return s.Store.Bounds(ctx)
}

// Who asks again and again whether the relay is ready costs one look at the store every two seconds. For no longer
// than that, a store that is gone seems to be there, and one that is back seems to be gone.
func TestReadinessIsAskedOfTheStoreEveryTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &askedStore{Store: openStore(t)}
		h, err := hub.New(t.Context(), store, 0)
		if err != nil {
			t.Fatal(err)
		}
		gone := errors.New("no answer")
		for i, step := range []struct{ says, becomes error }{{nil, gone}, {gone, nil}, {nil, nil}} {
			store.asked = 0
			for range 1000 {
				if err := h.Ready(t.Context()); !errors.Is(err, step.says) {
					t.Fatalf("step %d: readiness is %v, want %v", i, err, step.says)
				}
				store.err = step.becomes
			}
			if store.asked != 1 {
				t.Errorf("step %d: the store was asked %d times", i, store.asked)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// hungStore does not answer, nor does it notice that nobody waits any longer.
type hungStore struct {
	hub.Store
	hangs, done chan struct{}
}

func (s *hungStore) Bounds(ctx context.Context) (hub.Bounds, error) {
	select {
	case <-s.hangs:
		<-s.done
	default:
	}
	return s.Store.Bounds(ctx)
}

// A store that hangs, such as one on a disk that is gone, makes nobody wait who asks whether the relay is ready.
func TestReadinessDoesNotWaitForAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hungStore{openStore(t), make(chan struct{}), make(chan struct{})}
		h, err := hub.New(t.Context(), store, 0)
		if err != nil {
			t.Fatal(err)
		}
		close(store.hangs)
		for range 2 {
			if err := h.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "has not answered within 2s") {
				t.Errorf("readiness is %v", err)
			}
		}
		close(store.done)
		synctest.Wait()
		if err := h.Ready(t.Context()); err != nil {
			t.Errorf("with a store that answers again readiness is %v", err)
		}
	})
}

// deafStore gets no answer, and gives up in time.
type deafStore struct {
	hub.Store
	deaf bool
}

func (s *deafStore) Bounds(ctx context.Context) (hub.Bounds, error) {
	if s.deaf {
		<-ctx.Done()
		return hub.Bounds{}, errors.New("check the network")
	}
	return s.Store.Bounds(ctx)
}

// A store that gives up in time, such as Firestore without a network, says itself why.
func TestReadinessSaysWhatTheStoreSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &deafStore{Store: openStore(t)}
		h, err := hub.New(t.Context(), store, 0)
		if err != nil {
			t.Fatal(err)
		}
		store.deaf = true
		for range 10 {
			if err := h.Ready(t.Context()); err == nil || err.Error() != "check the network" {
				t.Errorf("readiness is %v", err)
			}
		}
	})
}

// fullStore can be read, and takes nothing while it is full.
type fullStore struct {
	hub.Store
	full atomic.Bool
}

var errFull = errors.New("disk full")

func (s *fullStore) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	if s.full.Load() {
		return nil, errFull
	}
	return s.Store.Append(ctx, events)
}

func (s *fullStore) SetNote(ctx context.Context, name, text string) error {
	if s.full.Load() {
		return errFull
	}
	return s.Store.SetNote(ctx, name, text)
}

// Readiness does not wait for the next look at the store when an append shows that it fails, or works again.
func TestReadinessFollowsAppends(t *testing.T) {
	store := &fullStore{Store: openStore(t)}
	h := start(t, store, 0)
	for i, want := range []error{nil, errFull, nil} {
		store.full.Store(want != nil)
		if _, _, err := h.Append(t.Context(), storetest.Event(fmt.Sprint(i))); !errors.Is(err, want) {
			t.Fatal(err)
		}
		if err := h.Ready(t.Context()); !errors.Is(err, want) {
			t.Errorf("after append %d readiness is %v, want %v", i, err, want)
		}
	}
}

// An append that fails again ends the answer that the relay is ready, which a probe between the two may have given.
func TestReadinessFollowsEachAppendThatFails(t *testing.T) {
	store := &fullStore{Store: openStore(t)}
	h := start(t, store, 0)
	for i := range 2 {
		store.full.Store(true)
		if _, _, err := h.Append(t.Context(), storetest.Event(fmt.Sprint(i))); !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		if i == 1 {
			if err := h.Ready(t.Context()); !errors.Is(err, errFull) {
				t.Errorf("after another append that failed readiness is %v", err)
			}
		}
		store.full.Store(false)
		if i == 0 {
			if err := h.Ready(t.Context()); err != nil {
				t.Errorf("with room again readiness is %v", err)
			}
		}
	}
}

// mutedStore cannot be followed, for a reason that changes.
type mutedStore struct {
	hub.Store
	why *atomic.Value
}

func (s mutedStore) Follow(context.Context, func(context.Context, int64) error) error {
	return s.why.Load().(error)
}

// While the store is out of reach, the log says so once a minute, and at once when the reason is another.
func TestAStoreThatCannotBeFollowedIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var why atomic.Value
		why.Store(errors.New("no answer"))
		startLogging(t, zerolog.New(&log).WithContext(t.Context()), mutedStore{openStore(t), &why}, 0)
		time.Sleep(150 * time.Second)
		why.Store(errors.New("no access"))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for reason, want := range map[string]int{"no answer": 3, "no access": 1} {
			if n := strings.Count(log.String(), reason+`","message":"cannot follow what other relays store`); n != want {
				t.Errorf("there are %d lines about %q, want %d:\n%s", n, reason, want, &log)
			}
		}
	})
}
