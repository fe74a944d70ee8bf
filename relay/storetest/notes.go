package storetest

import (
	"context"
	"maps"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

func notes(t *testing.T, open Open) {
	store := open(t, "log")
	expect := func(name, want string) {
		t.Helper()
		if got, err := store.Note(t.Context(), name); err != nil || got != want {
			t.Errorf("the note %q is %q, %v, want %q", name, got, err, want)
		}
	}
	expect("repository acme/app", "")
	for _, text := range []string{"one", "two"} {
		if err := store.SetNote(t.Context(), "repository acme/app", text); err != nil {
			t.Fatal(err)
		}
	}
	expect("repository acme/app", "two")
	expect("log", "")
	log := bounds(t, store).Log
	closeStore(t, store)

	store = open(t, "log")
	defer closeStore(t, store)
	expect("repository acme/app", "two")
	if err := store.SetNote(t.Context(), "log", "a note, whatever its name"); err != nil {
		t.Fatal(err)
	}
	if again := bounds(t, store).Log; again != log {
		t.Errorf("a note changed the log's id from %q to %q", log, again)
	}
}

// run runs a hub over a store until the caller calls stop.
func run(t *testing.T, store hub.Store, retention time.Duration) (h *hub.Hub, stop func()) {
	t.Helper()
	h, err := hub.New(t.Context(), store, retention)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	return h, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// keepsSettings tests that the settings for all agents survive reopening the log, also in a log that has lost all
// its events.
func keepsSettings(t *testing.T, open Open) {
	store := open(t, "log")
	h, stop := run(t, store, 0)
	want := map[string]string{"a": "1", "b": "2"}
	for key, value := range want {
		if _, err := h.ChangeSettings(t.Context(), "ops", func(settings map[string]string) { settings[key] = value }); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	closeStore(t, store)

	store = open(t, "log")
	before := settings(t, store, want)
	trimAll(t, store, time.Now().Add(time.Hour), 2)
	closeStore(t, store)

	store = open(t, "log")
	defer closeStore(t, store)
	if after := settings(t, store, want); after.ID != before.ID || after.By != "ops" || !after.At.Equal(before.At) {
		t.Errorf("the newest settings were %+v and are %+v", before, after)
	}
}

// settings checks the settings that a relay finds when it starts with the store.
func settings(t *testing.T, store hub.Store, want map[string]string) event.Settings {
	t.Helper()
	h, err := hub.New(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, err := h.Settings(t.Context())
	if err != nil || !maps.Equal(found.Values, want) {
		t.Errorf("the settings are %v, %v, want %v", found.Values, err, want)
	}
	return found
}
