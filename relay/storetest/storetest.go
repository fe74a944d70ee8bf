// Package storetest owns the conformance suite that every hub.Store passes, and the suite for stores that
// several relays share.
package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// Open opens the store under test. Called again with the same name after Close, it opens the same log;
// another name is another log.
type Open func(t *testing.T, name string) hub.Store

// noLimit is more than any test stores.
const noLimit = 1 << 30

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"EmptyLog", emptyLog},
		{"OrderWithoutGaps", orderWithoutGaps},
		{"EveryFieldComesBack", everyField},
		{"Duplicates", duplicates},
		{"SignedOnce", signedOnce},
		{"Reopen", reopen},
		{"LargePayload", largePayload},
		{"ReadLimits", readLimits},
		{"Trim", trim},
		{"ReadersBesideAppends", readersBesideAppends},
		{"AppendersOfOneStore", appendersOfOneStore},
		{"CancelledAppend", cancelledAppend},
		{"CancelledMidway", cancelledMidway},
		{"Stored", stored},
		{"Notes", notes},
		{"Settings", keepsSettings},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// Event returns an event that differs from all others by its delivery.
func Event(delivery string) event.Event {
	return event.Event{
		Source: "github", Delivery: delivery, Type: "push",
		ReceivedAt: time.UnixMilli(1_700_000_000_123).UTC(),
		Headers:    map[string]string{"X-Github-Event": "push"},
		Payload:    []byte(`{"delivery":"` + delivery + `"}`),
		JSON:       true,
	}
}

func emptyLog(t *testing.T, open Open) {
	one, two := open(t, "one"), open(t, "two")
	defer closeStore(t, one)
	defer closeStore(t, two)
	a, b := bounds(t, one), bounds(t, two)
	if a.Head != 0 || a.Floor != 0 || !event.ValidLogID(a.Log) {
		t.Errorf("bounds of an empty log: %+v", a)
	}
	if a.Log == b.Log {
		t.Errorf("two logs have the same id %q", a.Log)
	}
	if events := read(t, one, 0); len(events) != 0 {
		t.Errorf("an empty log holds %d events", len(events))
	}
}

func orderWithoutGaps(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	for batch := range 10 {
		var events []event.Event
		for i := range batch + 1 {
			events = append(events, Event(fmt.Sprintf("%d-%d", batch, i)))
		}
		appendAll(t, store, events...)
	}
	events := read(t, store, 0)
	if len(events) != 55 {
		t.Fatalf("stored 55 events, read %d", len(events))
	}
	log := bounds(t, store).Log
	next := 0
	for batch := range 10 {
		for i := range batch + 1 {
			want := event.Cursor{Log: log, Seq: int64(next + 1)}
			if got := events[next]; got.ID != want || got.Delivery != fmt.Sprintf("%d-%d", batch, i) {
				t.Fatalf("at place %d stands %s, delivery %s", next, got.ID, got.Delivery)
			}
			next++
		}
	}
}

func everyField(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	want := event.Event{
		Source: "github", Delivery: "d'1\"; --", Type: "pull_request", Action: "opened", Repo: "acme/app",
		Number: 12, Sender: "octocat", ReceivedAt: time.UnixMilli(1_700_000_000_456).UTC(),
		Headers:   map[string]string{"Content-Type": "application/json", "User-Agent": "ünïcode \x00"},
		Signature: "sha256=\"00\"é",
		Payload:   []byte("not JSON: \x00\xff\r\n"),
	}
	bare := event.Event{Source: "github", Delivery: "empty", ReceivedAt: want.ReceivedAt, Payload: []byte{}}
	appendAll(t, store, want, bare)
	got := read(t, store, 0)
	want.ID = event.Cursor{Log: bounds(t, store).Log, Seq: 1}
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %#v\nwant %#v", got[0], want)
	}
	if len(got[1].Payload) != 0 || got[1].Delivery != "empty" {
		t.Errorf("the bare event came back as %#v", got[1])
	}
}

func duplicates(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	appendAll(t, store, Event("a"), Event("b"))
	otherSource := Event("a")
	otherSource.Source = "grafana"
	results, err := store.Append(t.Context(), []event.Event{Event("b"), Event("c"), Event("c"), otherSource, Event("a")})
	if err != nil {
		t.Fatal(err)
	}
	want := []hub.Appended{{Seq: 2, Duplicate: true}, {Seq: 3}, {Seq: 3, Duplicate: true}, {Seq: 4}, {Seq: 1, Duplicate: true}}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("got %v, want %v", results, want)
	}
	if events := read(t, store, 0); len(events) != 4 {
		t.Errorf("the log holds %d events, want 4", len(events))
	}
}

// signedOnce tests that an event that is signed once is stored once, even under another delivery id. A
// redelivery under the same id is an ordinary duplicate. Sources are independent of each other.
func signedOnce(t *testing.T, open Open) {
	store := open(t, "log")
	signed := func(delivery, signature string) event.Event {
		e := Event(delivery)
		e.Signature, e.SignedOnce = signature, true
		return e
	}
	repeated := Event("repeated")
	repeated.Signature = "sha256=11"
	appendAll(t, store, signed("a", "sha256=aa"), Event("unsigned"), repeated)
	closeStore(t, store)

	store = open(t, "log")
	defer closeStore(t, store)
	elsewhere := signed("a", "sha256=aa")
	elsewhere.Source = "gitea"
	repeated.Delivery = "repeated again"
	results := appendAll(t, store, signed("b", "sha256=aa"), signed("a", "sha256=aa"), signed("c", "sha256=cc"), signed("d", "sha256=cc"),
		elsewhere, repeated, signed("unsigned", "sha256=ee"), signed("e", "sha256=ee"))
	want := []hub.Appended{
		{Seq: 1, Duplicate: true, OtherDelivery: true}, {Seq: 1, Duplicate: true}, {Seq: 4}, {Seq: 4, Duplicate: true, OtherDelivery: true},
		{Seq: 5}, {Seq: 6}, {Seq: 2, Duplicate: true}, {Seq: 7},
	}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("got  %+v\nwant %+v", results, want)
	}
	for i, e := range read(t, store, 0) {
		if e.ID.Seq != int64(i+1) || e.Delivery == "unsigned" && e.Signature != "" || e.Delivery == "c" && e.Signature != "sha256=cc" {
			t.Errorf("at place %d stands %+v", i+1, e)
		}
	}
}

func reopen(t *testing.T, open Open) {
	store := open(t, "log")
	appendAll(t, store, Event("a"), Event("b"))
	before, events := bounds(t, store), read(t, store, 0)
	closeStore(t, store)

	store = open(t, "log")
	defer closeStore(t, store)
	if after := bounds(t, store); after != before {
		t.Errorf("bounds were %+v and are %+v", before, after)
	}
	if again := read(t, store, 0); !reflect.DeepEqual(again, events) {
		t.Errorf("events differ after reopening")
	}
	results := appendAll(t, store, Event("b"), Event("c"))
	if !results[0].Duplicate || results[1].Seq != 3 {
		t.Errorf("appending after reopening gave %v", results)
	}
}

func largePayload(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	large := Event("large")
	large.Payload = make([]byte, 25<<20)
	rand.Read(large.Payload)
	appendAll(t, store, Event("before"), large, Event("after"))
	events := read(t, store, 0)
	if len(events) != 3 || !bytes.Equal(events[1].Payload, large.Payload) {
		t.Errorf("a payload of 25 MiB did not come back as it went in")
	}
}

func readLimits(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	for i := range 10 {
		e := Event(fmt.Sprint(i))
		e.Payload = make([]byte, 1000)
		appendAll(t, store, e)
	}
	for _, test := range []struct {
		after           int64
		limit, maxBytes int
		first, count    int64
	}{
		{0, 3, noLimit, 1, 3},
		{8, 3, noLimit, 9, 2},
		{10, 3, noLimit, 0, 0},
		{99, 3, noLimit, 0, 0},
		{2, 10, 2500, 3, 3},
		{2, 10, 1, 3, 1},
	} {
		events, err := store.Read(t.Context(), test.after, test.limit, test.maxBytes)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(events)) != test.count || test.count > 0 && events[0].ID.Seq != test.first {
			t.Errorf("%+v: read %d events", test, len(events))
		}
	}
}

func trim(t *testing.T, open Open) {
	store := open(t, "log")
	start := between()
	var third time.Time
	for i := range 10 {
		appendAll(t, store, received(fmt.Sprint(i+1)))
		if i == 2 {
			third = between()
		}
	}
	trimAll(t, store, start, 0)
	trimAll(t, store, third, 3)
	trimAll(t, store, third, 0)
	if b := bounds(t, store); b.Floor != 3 || b.Head != 10 {
		t.Errorf("bounds after trimming: %+v", b)
	}
	if events := read(t, store, 0); len(events) != 7 || events[0].ID.Seq != 4 {
		t.Errorf("%d events are left", len(events))
	}
	trimAll(t, store, between(), 7)
	emptied := bounds(t, store)
	if emptied.Floor != 10 || emptied.Head != 10 {
		t.Errorf("bounds of the emptied log: %+v", emptied)
	}
	closeStore(t, store)

	store = open(t, "log")
	defer closeStore(t, store)
	if b := bounds(t, store); b != emptied {
		t.Errorf("bounds of the emptied log after reopening: %+v", b)
	}
	if results := appendAll(t, store, Event("11")); results[0].Seq != 11 || results[0].Duplicate {
		t.Errorf("the event after an emptied log got %+v", results[0])
	}
}

func readersBesideAppends(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	const total = 200
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for after := int64(0); after < total; {
				events, err := store.Read(t.Context(), after, 7, noLimit)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					if after++; e.ID.Seq != after {
						t.Errorf("read event %d in place of %d", e.ID.Seq, after)
						return
					}
				}
			}
		})
	}
	for i := range total {
		appendAll(t, store, Event(fmt.Sprint(i)))
	}
	readers.Wait()
}

func cancelledAppend(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Append(ctx, []event.Event{Event("a")}); !errors.Is(err, context.Canceled) {
		t.Errorf("append with a cancelled context: %v", err)
	}
	if results := appendAll(t, store, Event("a")); results[0] != (hub.Appended{Seq: 1}) {
		t.Errorf("append after a cancelled one: %+v", results[0])
	}
}

func stored(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	for _, name := range []string{"a", "b", "c"} {
		appendAll(t, store, Event(name))
	}
	ask := make([]string, 0, 3000)
	for i := range cap(ask) - 2 {
		ask = append(ask, fmt.Sprint("missing-", i))
	}
	ask = append(ask, "b", "a")
	for source, want := range map[string]map[string]bool{"github": {"a": true, "b": true}, "grafana": {}} {
		got, err := store.Stored(t.Context(), source, ask)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("of %s are stored %v, %v, want %v", source, got, err, want)
		}
	}
	if got, err := store.Stored(t.Context(), "github", nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing are stored %v, %v", got, err)
	}
}

// cancelledMidway tests that an append that is cancelled at any point has happened completely or not at all,
// and that appending again leaves each event in the log once.
func cancelledMidway(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	const total = 30
	for i := range total {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*300*time.Microsecond)
		// Whether it succeeds depends on the machine's speed.
		_, _ = store.Append(ctx, []event.Event{Event(fmt.Sprint(i)), Event(fmt.Sprint("also ", i))})
		cancel()
		again := appendAll(t, store, Event(fmt.Sprint("also ", i)), Event(fmt.Sprint(i)))
		if again[0].Duplicate != again[1].Duplicate {
			t.Errorf("of an append that was cut off, one half is stored: %+v", again)
		}
	}
	once := map[string]bool{}
	for i, e := range read(t, store, 0) {
		if once[e.Delivery] || e.ID.Seq != int64(i+1) {
			t.Errorf("at %s stands %q, seen before: %t", e.ID, e.Delivery, once[e.Delivery])
		}
		once[e.Delivery] = true
	}
	if len(once) != 2*total {
		t.Errorf("the log holds %d deliveries, want %d", len(once), 2*total)
	}
}

func appendAll(t *testing.T, store hub.Store, events ...event.Event) []hub.Appended {
	t.Helper()
	results, err := store.Append(t.Context(), events)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func read(t *testing.T, store hub.Store, after int64) []event.Event {
	t.Helper()
	events, err := store.Read(t.Context(), after, noLimit, noLimit)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func bounds(t *testing.T, store hub.Store) hub.Bounds {
	t.Helper()
	b, err := store.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func trimAll(t *testing.T, store hub.Store, before time.Time, want int) {
	t.Helper()
	removed, err := store.Trim(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	if removed != want {
		t.Errorf("trimming removed %d events, want %d", removed, want)
	}
}

// received returns an event that is received now: a store may use its own time of receipt, or the event's.
func received(delivery string) event.Event {
	e := Event(delivery)
	e.ReceivedAt = time.Now()
	return e
}

// between returns a moment that is after every event received before the call, and before every event
// received after it.
func between() time.Time {
	next := func() (now time.Time) {
		for begun := time.Now().UnixMilli(); now.UnixMilli() <= begun; {
			now = time.Now()
		}
		return now
	}
	moment := next()
	next()
	return moment
}

func closeStore(t *testing.T, store hub.Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
