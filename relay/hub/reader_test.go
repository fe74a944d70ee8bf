package hub_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlite"
	"touchstone/relay/storetest"
	"touchstone/worktree/await"
)

func about(delivery, repo string) event.Event {
	e := storetest.Event(delivery)
	e.Repo = repo
	return e
}

func add(t *testing.T, h *hub.Hub, events ...event.Event) {
	t.Helper()
	for _, e := range events {
		if _, _, err := h.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func woken(r *hub.Reader) bool {
	select {
	case <-r.Wake():
		return true
	default:
		return false
	}
}

// An event wakes only the readers that want it; the others learn how far the log has grown when they ask.
func TestOnlyMatchingReadersWake(t *testing.T) {
	h := start(t, openStore(t), 0)
	reader := func(filters ...event.Filter) *hub.Reader {
		r := h.NewReader(0, filters...)
		t.Cleanup(r.Close)
		if batch, err := r.Next(t.Context()); err != nil || batch.More || batch.Through != 0 {
			t.Fatalf("on an empty log: %+v, %v", batch, err)
		}
		return r
	}
	repos := func(globs ...string) event.Filter { return event.Filter{Repos: globs} }
	want := []*hub.Reader{reader(), reader(repos("ACME/app")), reader(repos("acme/*")), reader(repos("*/app", "x/y")),
		reader(repos("acme/*"), repos("*/app"))}
	others := []*hub.Reader{reader(repos("acme/lib")), reader(repos("other/*")), reader(event.Filter{Types: []string{"nothing"}}),
		reader(repos("acme/*"), repos("*/lib"))}
	add(t, h, about("a", "other/lib"), about("b", "acme/app"), about("c", "none"))
	for i, r := range want {
		if !woken(r) {
			t.Errorf("reader %d was not woken", i)
		}
		batch, err := r.Next(t.Context())
		if err != nil || batch.Through != 3 || batch.More || len(batch.Entries) == 0 || i > 0 && len(batch.Entries) != 1 {
			t.Errorf("reader %d got %+v, %v", i, batch, err)
		}
	}
	for i, r := range others {
		if i != 1 && woken(r) {
			t.Errorf("reader %d was woken by what it does not want", i)
		}
		batch, err := r.Next(t.Context())
		if got := len(batch.Entries); err != nil || batch.Through != 3 || got != 0 && i != 1 {
			t.Errorf("reader %d got %+v, %v", i, batch, err)
		}
	}
}

// A frame is encoded in advance for readers that send it, and not for a reader that only reads.
func TestFramesAreMadeForThoseWhoSendThem(t *testing.T) {
	for _, unsent := range []bool{false, true} {
		h := start(t, openStore(t), 0)
		r := h.NewReader(0)
		r.Unsent = unsent
		defer r.Close()
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		add(t, h, about("a", "acme/app"))
		batch, err := r.Next(t.Context())
		if err != nil || !woken(r) || len(batch.Entries) != 1 || batch.Entries[0].Encoded() == unsent {
			t.Errorf("unsent %t: woken with %+v, %v", unsent, batch, err)
		}
	}
}

// When readers hold too much, the one that has held its batch longest is dropped. Readers at the same
// position share what they hold, and a released batch no longer counts.
func TestSlowReadersAreDropped(t *testing.T) {
	const most, large = 21, 4 << 20 // so many of them may be held
	store := openStore(t)
	for i := range most + 1 {
		e := storetest.Event(fmt.Sprint(i))
		e.Payload = make([]byte, large)
		if _, err := store.Append(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	h := start(t, store, 0)
	var dropped []int
	reader := func(name int, after int64) *hub.Reader {
		r := h.NewReader(after)
		r.Drop = func() { dropped = append(dropped, name) }
		t.Cleanup(r.Close)
		if batch, err := r.Next(t.Context()); err != nil || len(batch.Entries) != 1 {
			t.Fatalf("behind %d: %d entries, %v", after, len(batch.Entries), err)
		}
		return r
	}
	for name := range most {
		reader(name, int64(name)).Release()
		reader(name, int64(name))
		reader(100+name, int64(name))
	}
	if len(dropped) != 0 {
		t.Fatalf("dropped %v, although all of them share what may be held", dropped)
	}
	reader(most, most)
	if !slices.Equal(dropped, []int{0, 100}) {
		t.Errorf("dropped %v, want the two that have held the first event for the longest time", dropped)
	}
}

// forgetfulStore makes one append durable and reports that it failed.
type forgetfulStore struct {
	hub.Store
	forget bool
}

func (s *forgetfulStore) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	results, err := s.Store.Append(ctx, events)
	if s.forget {
		s.forget = false
		return nil, errors.New("the connection was lost behind the commit")
	}
	return results, err
}

// An event that a reader asks for again counts like any other that it holds. One that is gone, or not there yet, is none.
func TestAnEventThatIsAskedForAgainCountsAsHeld(t *testing.T) {
	const most, large = 21, 4 << 20 // so many of them may be held
	store := openStore(t)
	old := storetest.Event("old")
	for i := range most + 1 {
		e := storetest.Event(fmt.Sprint(i))
		e.Payload, e.ReceivedAt = make([]byte, large), time.Now()
		if _, err := store.Append(t.Context(), []event.Event{old, e}); err != nil {
			t.Fatal(err)
		}
	}
	h := start(t, store, time.Hour)
	await.Until(t, "the old event to be gone", func() bool { return h.Bounds().Floor == 1 })
	dropped := 0
	for seq := range int64(most + 3) {
		r := h.NewReader(h.Bounds().Head)
		r.Drop = func() { dropped++ }
		t.Cleanup(r.Close)
		entry, err := r.Again(t.Context(), seq+1)
		if there := 1 <= seq && seq <= most+1; err != nil || (entry != nil) != there || there && entry.ID.Seq != seq+1 {
			t.Fatalf("event %d: %v, %v", seq+1, entry, err)
		}
	}
	if dropped != 1 {
		t.Errorf("%d readers were dropped, want the one that is too many", dropped)
	}
}

// Readers that were waiting get the events of a commit of unknown outcome.
func TestCommitOfUnknownOutcome(t *testing.T) {
	store := &forgetfulStore{Store: openStore(t), forget: true}
	h := start(t, store, 0)
	r := h.NewReader(0, event.Filter{Repos: []string{"acme/app"}})
	defer r.Close()
	if batch, err := r.Next(t.Context()); err != nil || batch.More {
		t.Fatalf("on an empty log: %+v, %v", batch, err)
	}
	if _, _, err := h.Append(t.Context(), about("a", "acme/app")); err == nil {
		t.Fatal("the append succeeded, so nothing was tried")
	}
	add(t, h, about("b", "other/app"))
	<-r.Wake()
	batch, err := r.Next(t.Context())
	if err != nil || len(batch.Entries) != 1 || batch.Entries[0].Delivery != "a" {
		t.Errorf("got %+v, %v", batch, err)
	}
}

// An event that was committed although its append failed reaches the readers without another event after it: its sender may
// never send it again, and recovery takes it for stored.
func TestAnEventWhoseAppendFailedAfterTheCommitIsShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h := start(t, store, 0)
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(path, path+".away")
	if _, _, err := h.Append(t.Context(), about("a", "acme/app")); err == nil {
		t.Fatal("the append succeeded, so nothing was tried")
	}
	move(path+".away", path)
	if stored, err := store.Stored(t.Context(), about("a", "").Source, []string{"a"}); err != nil || !stored["a"] {
		t.Fatalf("the event is not in the log, so nothing was tried: %v, %v", stored, err)
	}
	await.Until(t, "the event is shown", func() bool { return h.Bounds().Head == 1 })
}

// The index may wake too many readers, but never too few: it has to find every reader that wants an event.
func FuzzWhoeverWantsIsWoken(f *testing.F) {
	f.Add("acme/app", "acme/*", "push", "github")
	f.Add("acme/app", "acme/ap?", "", "")
	f.Add("acme//x", "acme/[^a]x", "", "")
	f.Add("a/b/c", "a/b/*", "", "github")
	f.Add("", "*", "push", "")
	f.Add("É/x", "é/X", "", "")
	f.Add("acme/a*", `acme/a\*`, "", "")
	store := openStore(f)
	h := start(f, store, 0)
	n := 0
	f.Fuzz(func(t *testing.T, repo, glob, kind, source string) {
		var filters []event.Filter
		for _, filter := range []event.Filter{{Repos: []string{glob}}, {Types: []string{kind}}, {Sources: []string{source}}} {
			if filter.Validate() == nil {
				filters = append(filters, filter)
			}
		}
		r := h.NewReader(h.Bounds().Head, filters...)
		defer r.Close()
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		n++
		e := about(fmt.Sprint(n), repo)
		e.Type, e.Source = "push", "github"
		add(t, h, e)
		wanted := true
		for _, filter := range filters {
			wanted = wanted && filter.Match(e)
		}
		if woken(r) != wanted {
			t.Errorf("a reader with %+v: event %q is wanted: %t", filters, repo, wanted)
		}
	})
}

// A reader that reached the head through events from before this start, which are only in the store, is woken
// by the next event.
func TestAReaderOfThePastIsWoken(t *testing.T) {
	store := openStore(t)
	if _, err := store.Append(t.Context(), []event.Event{about("past", "acme/app")}); err != nil {
		t.Fatal(err)
	}
	h := start(t, store, 0)
	r := h.NewReader(0)
	defer r.Close()
	if batch, err := r.Next(t.Context()); err != nil || batch.More || len(batch.Entries) != 1 || batch.Through != 1 {
		t.Fatalf("%+v, %v", batch, err)
	}
	add(t, h, about("new", "acme/app"))
	if !woken(r) {
		t.Error("it was not woken")
	}
	if batch, err := r.Next(t.Context()); err != nil || len(batch.Entries) != 1 || batch.Through != 2 {
		t.Errorf("behind it: %+v, %v", batch, err)
	}
}

// Readers that begin at different places in a range of missing events count each of them once.
func TestDamagedEventsAreCountedOnce(t *testing.T) {
	h := start(t, stored(t, "DELETE FROM events WHERE seq BETWEEN 20 AND 29 OR seq = 40"), 0)
	for _, after := range []int64{24, 10, 27, 10} {
		r := h.NewReader(after)
		defer r.Close()
		for more := true; more; {
			batch, err := r.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			more = batch.More
		}
	}
	if n := h.Damaged(); n != 11 {
		t.Errorf("%d events are damaged, want 11", n)
	}
}
