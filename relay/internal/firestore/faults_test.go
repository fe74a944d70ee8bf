package firestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
	"touchstone/relay/storetest/emulator"
)

// behindProxy opens a store through a proxy of its own.
func behindProxy(t *testing.T, name string, faults emulator.Faults) (*Store, *emulator.Proxy) {
	t.Helper()
	e, _ := emulator.ForTest(t)
	proxy, err := emulator.NewProxy("", e.Address, faults, 7)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FIRESTORE_EMULATOR_HOST", proxy.Address)
	s := open(t, name, "")
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, proxy
}

// Commits are lost before and after they are executed, on three stores at once, while each follows the
// others: no append fails, and no event is stored twice.
func TestAmbiguousCommits(t *testing.T) {
	name := project(t)
	faults := emulator.Faults{DropBefore: 0.2, DropAfter: 0.3, Hangup: 200 * time.Millisecond}
	var stores []*Store
	var wait, following sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for i := range 3 {
		s, proxy := behindProxy(t, name, faults)
		defer proxy.Stop()
		stores = append(stores, s)
		following.Go(func() {
			for ctx.Err() == nil {
				_ = s.Follow(ctx, func(context.Context, int64) error { return nil }) // hurt on purpose
			}
		})
		wait.Go(func() {
			for n := range 15 {
				results, err := s.Append(t.Context(), []event.Event{storetest.Event(fmt.Sprintf("%d-%d", i, n))})
				if err != nil || results[0].Duplicate {
					t.Errorf("append %d of store %d: %+v, %v", n, i, results, err)
				}
			}
		})
	}
	wait.Wait()
	stop()
	following.Wait()
	once := map[string]bool{}
	for i, s := range stores {
		events, err := s.Read(t.Context(), 0, 1000, 1<<30)
		if err != nil || len(events) != 45 {
			t.Fatalf("store %d reads %d events, %v", i, len(events), err)
		}
		for _, e := range events {
			once[e.Delivery] = true
		}
	}
	if len(once) != 45 {
		t.Errorf("there are %d deliveries, want 45", len(once))
	}
}

// While the database cannot be reached, an append fails in time and the store is not ready. Once it can be
// reached again, the same store works.
func TestOutageAndRecovery(t *testing.T) {
	s, proxy := behindProxy(t, project(t), emulator.Faults{})
	e := []event.Event{storetest.Event("a")}
	if err := proxy.Stop(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Bounds(short); err == nil || !strings.Contains(err.Error(), "no answer from Firestore") {
		t.Errorf("the store is ready without its database: %v", err)
	}
	short, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Append(short, e); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer from") {
		t.Errorf("append without a database: %v", err)
	}
	short, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.bounds(short); err == nil || strings.Contains(err.Error(), "no answer from") {
		t.Errorf("what opens the store adds the remedy, but it is in %v", err)
	}
	backend, _ := emulator.ForTest(t)
	proxy, err := emulator.NewProxy(proxy.Address, backend.Address, emulator.Faults{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Stop() })
	for {
		results, err := s.Append(t.Context(), e)
		if err == nil {
			if results[0] != (hub.Appended{Seq: 1}) {
				t.Errorf("the first append: %+v", results[0])
			}
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// The documents of removed events are deleted when their grace period is over; the newest block stays.
func TestRemovedEventsDocumentsAreDeletedAfterTheirGrace(t *testing.T) {
	s := open(t, project(t), "")
	defer s.Close()
	large := storetest.Event("large")
	large.Payload = make([]byte, 2<<20)
	for i := range large.Payload {
		large.Payload[i] = byte(i * i >> 3 * i >> 5)
	}
	for _, e := range []event.Event{large, storetest.Event("b"), storetest.Event("c")} {
		if _, err := s.Append(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	// Chunks of a block that was never written, and of one that is yet to come.
	for _, first := range []int64{2, 4} {
		if _, err := s.chunk(first, "x", 0).Set(t.Context(), chunk{Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	documents := func() string {
		var names []string
		for _, all := range []*firestore.CollectionRef{s.blocks(), s.chunks()} {
			docs, err := all.Documents(t.Context()).GetAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, doc := range docs {
				names = append(names, doc.Ref.ID)
			}
		}
		return strings.Join(names, " ")
	}
	before := documents()
	if removed, err := s.Trim(t.Context(), time.Now()); removed != 3 || err != nil {
		t.Fatalf("removed %d, %v", removed, err)
	}
	if after := documents(); after != before {
		t.Errorf("within the grace documents went: %s became %s", before, after)
	}
	s.grace, s.remembered = 0, 0
	if removed, err := s.Trim(t.Context(), time.Now()); removed != 0 || err != nil {
		t.Fatalf("removed %d, %v", removed, err)
	}
	if after, want := documents(), name(3)+" "+name(4)+"-x-000"; after != want {
		t.Errorf("left are %s, want %s", after, want)
	}
}

// Retention removes an event's content, but the store remembers its delivery: GitHub can redeliver for three
// days.
func TestRememberedBeyondRetention(t *testing.T) {
	name := project(t)
	s, asleep := open(t, name, ""), open(t, name, "")
	defer s.Close()
	defer asleep.Close()
	large := storetest.Event("large")
	large.Payload = make([]byte, 2<<20)
	rand.Read(large.Payload)
	for _, e := range []event.Event{storetest.Event("a"), large, storetest.Event("b")} {
		if _, err := s.Append(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	s.grace = 0
	for _, want := range []int{3, 0} {
		if removed, err := s.Trim(t.Context(), time.Now()); removed != want || err != nil {
			t.Fatalf("removed %d, %v", removed, err)
		}
	}
	var left []string
	blocks, err := s.blocks().Documents(t.Context()).GetAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range blocks {
		var b block
		if err := doc.DataTo(&b); err != nil {
			t.Fatal(err)
		}
		left = append(left, fmt.Sprintf("%d: %d bytes", b.Last, len(b.Data)))
	}
	chunks, err := s.chunks().Documents(t.Context()).GetAll()
	if got := strings.Join(left, ", "); err != nil || len(chunks) != 0 || !strings.HasPrefix(got, "1: 0 bytes, 2: 0 bytes, 3: ") {
		t.Errorf("left are %s, and %d chunks, %v", got, len(chunks), err)
	}

	// One that has not followed meanwhile learns the log over what was emptied.
	asleep.confirmed = time.Time{}
	again := []event.Event{storetest.Event("a"), storetest.Event("large"), storetest.Event("b"), storetest.Event("c")}
	results, err := asleep.Append(t.Context(), again)
	want := []hub.Appended{{Seq: 1, Duplicate: true}, {Seq: 2, Duplicate: true}, {Seq: 3, Duplicate: true}, {Seq: 4}}
	if err != nil || !slices.Equal(results, want) {
		t.Errorf("sent again they are %+v, %v, want %+v", results, err, want)
	}
	stored, err := s.Stored(t.Context(), "github", []string{"a", "large", "other"})
	if err != nil || !stored["a"] || !stored["large"] || stored["other"] {
		t.Errorf("known are %v, %v", stored, err)
	}
	for _, from := range []*Store{s, asleep} {
		if events, err := from.Read(t.Context(), 3, 10, 1<<20); err != nil || len(events) != 1 || events[0].Delivery != "c" {
			t.Errorf("behind the removed ones stand %d events, %v", len(events), err)
		}
	}

	asleep.grace, asleep.remembered = 0, 0
	if removed, err := asleep.Trim(t.Context(), time.Now()); removed != 1 || err != nil {
		t.Fatalf("removed %d, %v", removed, err)
	}
	if blocks, err = s.blocks().Documents(t.Context()).GetAll(); err != nil || len(blocks) != 1 {
		t.Errorf("with nothing to remember %d blocks are left, %v", len(blocks), err)
	}
	if results, err := asleep.Append(t.Context(), again[:1]); err != nil || results[0].Duplicate {
		t.Errorf("sent again when it is forgotten it is %+v, %v", results, err)
	}
}

// The store notices a log that was replaced under a running relay, and does not write to it.
func TestReplacedLog(t *testing.T) {
	s := open(t, project(t), "")
	defer s.Close()
	if _, err := s.Append(t.Context(), []event.Event{storetest.Event("a")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.blocks().Doc(name(1)).Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bounds(t.Context()); !errors.Is(err, errReplaced) {
		t.Errorf("bounds: %v", err)
	}
	if _, err := s.Append(t.Context(), []event.Event{storetest.Event("b")}); !errors.Is(err, errReplaced) {
		t.Errorf("append: %v", err)
	}
}

// Documents that others left in the database count as damage: they neither cause a panic nor end the log.
func TestDamagedBlock(t *testing.T) {
	var damage *hub.Damage
	good, err := encode([]event.Event{storetest.Event("a")})
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string]block{
		"no data":         {Last: 1, IDs: []string{"a"}},
		"another place":   {Last: 1, IDs: []string{"a"}, Data: good, Sum: block{Last: 1, IDs: []string{"a"}}.checksum("another1", 1, good)},
		"another count":   {Last: 2, IDs: []string{"a", "b"}, Data: good},
		"missing chunk":   {Last: 1, IDs: []string{"a"}, Chunks: 1},
		"too many chunks": {Last: 1, IDs: []string{"a"}, Chunks: 1 << 30},
	} {
		s := open(t, project(t), "")
		if _, err := s.blocks().Doc(name(1)).Set(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if events, err := s.Read(t.Context(), 0, 10, 1<<20); !errors.As(err, &damage) || damage.First != 1 || damage.Last != b.Last {
			t.Errorf("%s: %d events, %v", what, len(events), err)
		}
		// What comes behind is taken, and read.
		if results, err := s.Append(t.Context(), []event.Event{storetest.Event("next")}); err != nil || results[0].Seq != b.Last+1 {
			t.Errorf("%s: then appended %+v, %v", what, results, err)
		}
		if events, err := s.Read(t.Context(), b.Last, 10, 1<<20); err != nil || len(events) != 1 {
			t.Errorf("%s: then read %d events, %v", what, len(events), err)
		}
		s.Close()
	}
}

func FuzzDecode(f *testing.F) {
	good, err := encode([]event.Event{storetest.Event("a"), storetest.Event("b")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := decode(data, "q7m2x4ka", 1)
		for i, e := range events {
			if err != nil || e.ID.Seq != int64(i+1) {
				t.Errorf("event %d is %s, %v", i, e.ID, err)
			}
		}
	})
}

func TestAFailureToOpenSaysWhatToDo(t *testing.T) {
	if got := remedy(status.Error(codes.NotFound, "")); !strings.Contains(got, "databases create") {
		t.Errorf("for a missing database: %q", got)
	}
	if got := remedy(fmt.Errorf("open: %w", context.DeadlineExceeded)); !strings.Contains(got, "no answer") {
		t.Errorf("for a silent network: %q", got)
	}
	if got := remedy(errors.New("x")); got != "" {
		t.Errorf("for what nothing is known about: %q", got)
	}
}
