package hub_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlite"
	"touchstone/relay/storetest"
)

// unproved cannot check any signature.
func unproved(event.Event) (fits, known bool) { return false, false }

func verify(t *testing.T, store hub.Store) (string, error) {
	t.Helper()
	var problems []string
	_, err := hub.Verify(t.Context(), store, unproved, func(problem string) { problems = append(problems, problem) })
	return strings.Join(problems, "\n"), err
}

// stored makes a log of 600 events after a floor of 10, lets the statement tamper with the file, and opens it
// again.
func stored(t *testing.T, tamper string) *sqlite.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay.db")
	open := func() *sqlite.Store {
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	var events []event.Event
	for i := range 610 {
		events = append(events, storetest.Event(fmt.Sprint(i+1)))
		if i < 10 {
			events[i].ReceivedAt = events[i].ReceivedAt.Add(-time.Hour)
		}
	}
	if _, err := store.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if removed, err := store.Trim(t.Context(), events[10].ReceivedAt); err != nil || removed != 10 {
		t.Fatalf("trimming removed %d events: %v", removed, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(tamper)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	store = open()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

const unchecked = "UPDATE events SET checksum = NULL WHERE seq >= 0; "

func TestVerifyNamesWhatIsMissingOrDamaged(t *testing.T) {
	for name, test := range map[string]struct{ tamper, want string }{
		"sound":           {"", ""},
		"one missing":     {"DELETE FROM events WHERE seq = 300", "event 300 is damaged: it is missing"},
		"several missing": {"DELETE FROM events WHERE seq BETWEEN 20 AND 290", "events 20 to 290 are damaged: it is missing"},
		"first missing":   {"DELETE FROM events WHERE seq = 11", "event 11 is damaged: it is missing"},
		"another payload": {"UPDATE events SET payload = x'7b7d' WHERE seq = 500",
			"event 500 is damaged: its checksum does not match"},
		"another column": {"UPDATE events SET repo = 'acme/apq' WHERE seq IN (11, 610)",
			"event 11 is damaged: its checksum does not match"},
		"another id": {"UPDATE events SET delivery = 'x' WHERE seq = 500",
			"event 500 is damaged: its checksum does not match"},
		"another place": {"UPDATE events SET seq = 611 WHERE seq = 610",
			"event 610 is damaged: it is missing\nevent 611 is damaged: its checksum does not match"},
		"unreadable": {"UPDATE events SET headers = '{' WHERE seq IN (500, 502)", "event 500 is damaged: its checksum does not match"},
		// Events of older relays have no checksum.
		"no JSON": {unchecked + "UPDATE events SET payload = x'7b' WHERE seq = 500",
			"event 500 is damaged: its payload is not JSON, as GitHub's always is"},
		"no settings": {unchecked + "UPDATE events SET source = 'relay' WHERE seq = 500; UPDATE events SET type = 'control' WHERE seq = 500; " +
			"UPDATE events SET payload = x'5b5d' WHERE seq = 500", "event 500 is damaged: event"},
		"no delivery": {unchecked + "UPDATE events SET delivery = '' WHERE seq = 500",
			"event 500 is damaged: its source, delivery or time is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			problems, err := verify(t, stored(t, test.tamper))
			if err != nil || !strings.HasPrefix(problems, test.want) || test.want == "" && problems != "" {
				t.Errorf("told %q, %v", problems, err)
			}
			if want := max(1, strings.Count(test.tamper, ",")+1, strings.Count(test.want, "damaged")); test.want != "" &&
				strings.Count(problems, "\n")+1 != want {
				t.Errorf("told %d problems, want %d:\n%s", strings.Count(problems, "\n")+1, want, problems)
			}
		})
	}
}

// edited returns events that no SQLite file can contain.
type edited struct {
	hub.Store
	edit func([]event.Event)
}

func (e edited) Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error) {
	events, err := e.Store.Read(ctx, after, limit, maxBytes)
	e.edit(events)
	return events, err
}

func TestVerifyOtherStores(t *testing.T) {
	for want, edit := range map[string]func([]event.Event){
		"event 20 is missing\nevent 20 follows event 21": func(events []event.Event) { slices.Reverse(events[9:11]) },
		"event 30 is the same delivery as event 20":      func(events []event.Event) { events[19].Delivery = events[9].Delivery },
		`event 20 belongs to log "another1"`:             func(events []event.Event) { events[9].ID.Log = "another1" },
	} {
		problems, err := verify(t, edited{stored(t, "DELETE FROM events WHERE seq > 100"), edit})
		if err != nil || !strings.HasPrefix(problems, want) {
			t.Errorf("told %q, %v, want %q", problems, err, want)
		}
	}
}

func TestVerifyGivesUp(t *testing.T) {
	problems, err := verify(t, stored(t, "UPDATE events SET headers = '{'"))
	if !errors.Is(err, hub.ErrManyProblems) || strings.Count(problems, "\n") != hub.MaxProblems-1 {
		t.Errorf("told %d problems, %v", strings.Count(problems, "\n")+1, err)
	}
}

func TestVerifyWithoutStore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := stored(t, "")
	cancel()
	if _, err := hub.Verify(ctx, store, unproved, func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
