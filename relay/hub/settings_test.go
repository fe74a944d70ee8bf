package hub_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// set gives one setting a value.
func set(t *testing.T, h *hub.Hub, key, value string) event.Settings {
	t.Helper()
	settings, err := h.ChangeSettings(t.Context(), "ops", func(settings map[string]string) { settings[key] = value })
	if err != nil {
		t.Error(err)
	}
	return settings
}

// expect checks the settings in force.
func expect(t *testing.T, h *hub.Hub, when string, want map[string]string) event.Settings {
	t.Helper()
	settings, err := h.Settings(t.Context())
	if err != nil || !maps.Equal(settings.Values, want) {
		t.Errorf("%s: %v, %v, want %v", when, settings.Values, err, want)
	}
	return settings
}

// Settings wake readers with any filter, and they get them in order with the events around it.
func TestSettingsReachEveryReader(t *testing.T) {
	h := start(t, openStore(t), 0)
	if c := expect(t, h, "at first", map[string]string{}); !c.ID.IsZero() {
		t.Errorf("nothing was set by %s", c.ID)
	}
	var readers []*hub.Reader
	for _, filter := range []event.Filter{{}, {Repos: []string{"acme/app"}}, {Repos: []string{"acme/*"}}, {Types: []string{"push"}},
		{Sources: []string{"grafana"}}} {
		r := h.NewReader(0, filter, event.Filter{Repos: []string{"x/y"}})
		t.Cleanup(r.Close)
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	add(t, h, about("a", "none/at-all"))
	set(t, h, "engine.model", "sonnet")
	for i, r := range readers {
		if !woken(r) {
			t.Errorf("reader %d was not woken", i)
		}
		batch, err := r.Next(t.Context())
		if err != nil || len(batch.Entries) != 1 || !batch.Entries[0].IsSettings() || batch.Entries[0].ID.Seq != 2 || batch.Through != 2 {
			t.Errorf("reader %d got %+v, %v", i, batch, err)
		}
	}
	if again := set(t, h, "engine.model", "sonnet"); again.ID.Seq != 2 || h.Bounds().Head != 2 {
		t.Errorf("setting what is set already made event %s", again.ID)
	}
}

// Changes made on several relays at the same moment all take effect, and all relays agree on the result.
func TestConcurrentChangesOfSettingsAreKept(t *testing.T) {
	var all []*hub.Hub
	for _, store := range share(t, 3) {
		all = append(all, start(t, store, 0))
	}
	want := map[string]string{}
	var wait sync.WaitGroup
	for i, h := range all {
		for n := range 3 {
			key := fmt.Sprintf("%d-%d", i, n)
			want[key] = "x"
			wait.Go(func() { set(t, h, key, "x") })
		}
	}
	wait.Wait()
	for i, h := range all {
		if _, err := h.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect(t, h, fmt.Sprint("hub ", i), want)
	}
}

// mute is a store that keeps no notes, as if the relay died before it wrote one.
type mute struct{ hub.Store }

var errMute = errors.New("no room for a note")

func (mute) SetNote(context.Context, string, string) error { return errMute }

// The settings survive the removal of their event, a relay that died before it wrote the note, and both.
func TestSettingsOutliveTheLog(t *testing.T) {
	store := openStore(t)
	h := start(t, mute{store}, 0)
	set(t, h, "engine.model", "sonnet")
	add(t, h, storetest.Event("a"), storetest.Event("b"))
	set(t, h, "engine.off", "opus")
	add(t, h, storetest.Event("c"))
	want := map[string]string{"engine.model": "sonnet", "engine.off": "opus"}

	h, err := hub.New(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := expect(t, h, "found in the log", want)

	// Everything in it is older than this retention, and goes.
	aged, err := hub.New(t.Context(), store, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := aged.Trim(t.Context()); err != nil || aged.Bounds().Floor != 5 {
		t.Fatalf("trimmed: %+v, %v", aged.Bounds(), err)
	}
	expect(t, aged, "with an empty log", want)
	if h, err = hub.New(t.Context(), store, 0); err != nil {
		t.Fatal(err)
	}
	if after := expect(t, h, "found beside an empty log", want); after.ID != before.ID || after.By != "ops" || !after.At.Equal(before.At) {
		t.Errorf("it was %+v and is %+v", before, after)
	}
}

// While the note cannot be written, retention keeps the settings' event in the log.
func TestSettingsStayUntilNoted(t *testing.T) {
	store := openStore(t)
	h := start(t, mute{store}, time.Nanosecond)
	set(t, h, "engine.model", "sonnet")
	if err := h.Trim(t.Context()); !errors.Is(err, errMute) {
		t.Errorf("trimming ended with %v", err)
	}
	if b := h.Bounds(); b.Floor != 0 {
		t.Errorf("the bounds are %+v", b)
	}
}

// A relay that could not read some events of others still learns of settings among them.
func TestSettingsAreReadBesideUnreadableEvents(t *testing.T) {
	stores := share(t, 2)
	stores[1].deaf = true
	ahead := start(t, stores[0], 0)
	blind := &unreadable{Store: stores[1]}
	behind := start(t, blind, 0)
	set(t, ahead, "engine.model", "sonnet")
	blind.failing.Store(true)
	add(t, behind, storetest.Event("a"))
	if _, err := behind.Settings(t.Context()); !errors.Is(err, errUnreadable) {
		t.Errorf("while the store cannot be read: %v", err)
	}
	blind.failing.Store(false)
	expect(t, behind, "once it can", map[string]string{"engine.model": "sonnet"})
}

// An unreadable note is an error: it must not unset what was switched off.
func TestDamagedSettingsAreRefused(t *testing.T) {
	for _, text := range []string{"{", `{}`, `{"id":"zzzzzzzz-1","settings":{}}`} {
		store := openStore(t)
		if err := store.SetNote(t.Context(), "control", text); err != nil {
			t.Fatal(err)
		}
		if _, err := hub.New(t.Context(), store, 0); err == nil {
			t.Errorf("with the note %q the relay starts", text)
		}
	}
}

// unreadable is a store whose reads can fail.
type unreadable struct {
	hub.Store
	failing atomic.Bool
}

var errUnreadable = errors.New("it cannot be read")

func (u *unreadable) Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error) {
	if u.failing.Load() {
		return nil, errUnreadable
	}
	return u.Store.Read(ctx, after, limit, maxBytes)
}

// skippingStore cannot be read while skip is set. While a note is held, writing it waits until somebody looks for newer
// settings.
type skippingStore struct {
	hub.Store
	skip atomic.Bool
	note atomic.Pointer[heldNote]
}

// heldNote is a note that is being written.
type heldNote struct {
	begun, looked chan struct{}
	once          sync.Once
}

func (s *skippingStore) Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error) {
	if s.skip.Load() {
		return nil, errors.New("out of reach")
	}
	return s.Store.Read(ctx, after, limit, maxBytes)
}

func (s *skippingStore) SetNote(ctx context.Context, name, text string) error {
	err := s.Store.SetNote(ctx, name, text)
	if held := s.note.Load(); held != nil {
		close(held.begun)
		<-held.looked
	}
	return err
}

func (s *skippingStore) Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error) {
	stored, err := s.Store.Stored(ctx, source, deliveries)
	if held := s.note.Load(); held != nil {
		held.once.Do(func() { close(held.looked) })
	}
	return stored, err
}

// Settings that are looked for after skipped events are read safely while their note is being written. Only the race detector
// can tell.
func TestSettingsAreLookedForWhileTheyAreNoted(t *testing.T) {
	store := &skippingStore{Store: openStore(t)}
	h := start(t, store, 0)
	for i := range 50 {
		held := &heldNote{begun: make(chan struct{}), looked: make(chan struct{})}
		store.note.Store(held)
		var wait sync.WaitGroup
		wait.Go(func() { set(t, h, "engine.model", fmt.Sprint("sonnet-", i)) })
		<-held.begun
		store.skip.Store(true)
		if _, err := store.Store.Append(t.Context(), []event.Event{about(fmt.Sprint("other ", i), "acme/app")}); err != nil {
			t.Fatal(err)
		}
		add(t, h, about(fmt.Sprint("own ", i), "acme/app"))
		store.skip.Store(false)
		expect(t, h, "after skipped events", map[string]string{"engine.model": fmt.Sprint("sonnet-", i)})
		wait.Wait()
		store.note.Store(nil)
	}
}
