package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlite"
	"touchstone/relay/storetest"
	"touchstone/worktree/await"
)

func openStore(t testing.TB) *sqlite.Store {
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

// start runs a hub until the test ends.
func start(t testing.TB, store hub.Store, retention time.Duration) *hub.Hub {
	t.Helper()
	return startLogging(t, t.Context(), store, retention)
}

// startLogging is start with a context that has a logger.
func startLogging(t testing.TB, ctx context.Context, store hub.Store, retention time.Duration) *hub.Hub {
	t.Helper()
	h, err := hub.New(ctx, store, retention)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return h
}

// follow reads the log from a position until it has seen the event numbered last, and
// checks on the way that nothing is missing.
func follow(t *testing.T, h *hub.Hub, after, last int64) []event.Event {
	t.Helper()
	reader := h.NewReader(after)
	defer reader.Close()
	var events []event.Event
	for after < last {
		batch, err := reader.Next(t.Context())
		if err != nil {
			t.Error(err)
			return events
		}
		if batch.GoneThrough != 0 {
			t.Errorf("events through %d are gone", batch.GoneThrough)
			return events
		}
		for _, entry := range batch.Entries {
			if after++; entry.ID.Seq != after {
				t.Errorf("event %d stands in place of %d", entry.ID.Seq, after)
				return events
			}
			events = append(events, entry.Event)
		}
		if !batch.More && after < last {
			<-reader.Wake()
		}
	}
	return events
}

// next returns what a new reader gets after a position.
func next(t *testing.T, h *hub.Hub, after int64) hub.Batch {
	t.Helper()
	reader := h.NewReader(after)
	defer reader.Close()
	batch, err := reader.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func TestEveryReaderSeesEverything(t *testing.T) {
	h := start(t, openStore(t), 0)
	const writers, each = 8, 50
	var wait sync.WaitGroup
	for reader := range 4 {
		wait.Go(func() { follow(t, h, 0, writers*each*int64(reader+1)/4) })
	}
	for writer := range writers {
		wait.Go(func() {
			for i := range each {
				id, appended, err := h.Append(t.Context(), storetest.Event(fmt.Sprintf("%d-%d", writer, i)))
				if err != nil || appended.Duplicate || id.Seq == 0 {
					t.Errorf("append: %v, %+v, %v", id, appended, err)
				}
			}
		})
	}
	wait.Wait()
	if len(follow(t, h, 0, writers*each)) != writers*each {
		t.Error("a late reader did not see everything")
	}
}

// A second hub on the store has an empty cache, so it has to read from the store what the first hub had in
// memory.
func TestMemoryAndStoreAgree(t *testing.T) {
	store := openStore(t)
	h := start(t, store, 0)
	for i := range 600 {
		add(t, h, storetest.Event(fmt.Sprint(i)))
	}
	cold := start(t, store, 0)
	for _, after := range []int64{0, 1, 255, 256, 599} {
		fromMemory, fromStore := follow(t, h, after, 600), follow(t, cold, after, 600)
		for i := range fromMemory {
			warm, err := fromMemory[i].AppendFrame(nil)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := fromStore[i].AppendFrame(nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(warm) != string(stored) {
				t.Fatalf("after %d: memory says\n%s\nthe store\n%s", after, warm, stored)
			}
		}
	}
}

func TestDuplicateWakesNobody(t *testing.T) {
	h := start(t, openStore(t), 0)
	first, _, err := h.Append(t.Context(), storetest.Event("a"))
	if err != nil {
		t.Fatal(err)
	}
	again, appended, err := h.Append(t.Context(), storetest.Event("a"))
	if err != nil || !appended.Duplicate || again != first {
		t.Errorf("the same delivery again: %v, %+v, %v", again, appended, err)
	}
	if head := h.Bounds().Head; head != 1 {
		t.Errorf("the head is at %d", head)
	}
}

func TestOldEventsAreRemovedAndReadersToldOfTheGap(t *testing.T) {
	store := openStore(t)
	old := storetest.Event("old")
	if _, err := store.Append(t.Context(), []event.Event{old, storetest.Event("old too")}); err != nil {
		t.Fatal(err)
	}
	h := start(t, store, time.Hour)
	fresh := storetest.Event("fresh")
	fresh.ReceivedAt = time.Now()
	add(t, h, fresh)
	await.Until(t, "the hub to trim by itself, at its start", func() bool { return h.Bounds().Floor >= 2 })
	if batch := next(t, h, 0); batch.GoneThrough != 2 || len(batch.Entries) != 1 || batch.Entries[0].ID.Seq != 3 {
		t.Errorf("behind the start there is %+v", batch)
	}
	if batch := next(t, h, 2); batch.GoneThrough != 0 || len(batch.Entries) != 1 {
		t.Errorf("behind the floor there is %+v", batch)
	}
}

// failingStore stands for a broken disk. Its Append can also be delayed.
type failingStore struct {
	hub.Store
	entered chan struct{}
	resume  chan error
}

func (s *failingStore) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	s.entered <- struct{}{}
	if err := <-s.resume; err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, events)
}

func TestStoreFailureReachesTheWriterOnly(t *testing.T) {
	store := &failingStore{openStore(t), make(chan struct{}), make(chan error)}
	h := start(t, store, 0)
	full := errors.New("disk full")
	go func() { <-store.entered; store.resume <- full }()
	if _, _, err := h.Append(t.Context(), storetest.Event("a")); !errors.Is(err, full) {
		t.Errorf("append on a full disk: %v", err)
	}
	if batch := next(t, h, 0); batch.More || len(batch.Entries) != 0 {
		t.Errorf("readers see %+v", batch)
	}
	go func() { <-store.entered; store.resume <- nil }()
	if id, appended, err := h.Append(t.Context(), storetest.Event("a")); err != nil || appended.Duplicate || id.Seq != 1 {
		t.Errorf("append once there is room again: %v, %+v, %v", id, appended, err)
	}
}

// The log says once when the store works again.
func TestRecoveredStoreIsLoggedOnce(t *testing.T) {
	store := &failingStore{openStore(t), make(chan struct{}), make(chan error)}
	var log bytes.Buffer
	h := startLogging(t, zerolog.New(&log).WithContext(t.Context()), store, 0)
	for i, outcome := range []error{nil, errors.New("disk full"), nil, nil} {
		go func() { <-store.entered; store.resume <- outcome }()
		if _, _, err := h.Append(t.Context(), storetest.Event(fmt.Sprint(i))); !errors.Is(err, outcome) {
			t.Errorf("append %d: %v, want %v", i, err, outcome)
		}
		if told, want := strings.Count(log.String(), "writing to the store works again"), i/2; told != min(want, 1) {
			t.Errorf("behind append %d the log says %q", i, &log)
		}
	}
}

func TestAbandonedWhileQueuedIsNotStored(t *testing.T) {
	store := &failingStore{openStore(t), make(chan struct{}), make(chan error)}
	h := start(t, store, 0)
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, _, err := h.Append(t.Context(), storetest.Event("first")); err != nil {
			t.Error(err)
		}
	})
	<-store.entered // the first is being stored, so the second has to wait
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := h.Append(ctx, storetest.Event("second")); !errors.Is(err, context.Canceled) {
		t.Errorf("an abandoned append: %v", err)
	}
	store.resume <- nil
	wait.Wait()
	go func() { <-store.entered; store.resume <- nil }()
	id, appended, err := h.Append(t.Context(), storetest.Event("third"))
	if err != nil || appended.Duplicate || id.Seq != 2 {
		t.Errorf("the next append: %v, %+v, %v; want number 2", id, appended, err)
	}
}

// While one commit runs, new events are gathered into the next one; no writer waits for two commits.
func TestGroupCommitAndOverload(t *testing.T) {
	store := &failingStore{openStore(t), make(chan struct{}), make(chan error)}
	h := start(t, store, 0)
	var wait sync.WaitGroup
	appendOne := func(i int, overloaded chan<- struct{}) {
		_, _, err := h.Append(t.Context(), storetest.Event(fmt.Sprint(i)))
		if errors.Is(err, hub.ErrOverloaded) {
			overloaded <- struct{}{}
		} else if err != nil {
			t.Error(err)
		}
	}
	overloaded := make(chan struct{}, 5000)
	wait.Go(func() { appendOne(0, overloaded) })
	<-store.entered
	for i := range 5000 {
		wait.Go(func() { appendOne(i+1, overloaded) })
	}
	for range 5000 - 4096 { // the queue holds the others
		<-overloaded
	}
	store.resume <- nil
	commits := 1
	stored := make(chan struct{})
	go func() { wait.Wait(); close(stored) }()
	for more := true; more; {
		select {
		case <-store.entered:
			commits++
			store.resume <- nil
		case <-stored:
			more = false
		}
	}
	if head := h.Bounds().Head; head != 4097 {
		t.Errorf("the head is at %d", head)
	}
	if commits > 10 {
		t.Errorf("4097 events took %d commits", commits)
	}
}

func TestEndedHubTakesNoEvents(t *testing.T) {
	h, err := hub.New(t.Context(), openStore(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := h.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Append(t.Context(), storetest.Event("late")); err == nil {
		t.Error("an event was taken by a hub that has ended")
	}
}
