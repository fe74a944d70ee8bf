package firestore

import (
	"fmt"
	"strings"
	"testing"

	"cloud.google.com/go/firestore"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// A log that is renewed, and once more later, has the same events under its new id, with their checksums, and goes on.
func TestRenewedLogHasTheSameEventsUnderANewID(t *testing.T) {
	project := project(t)
	if _, err := renewWithin(t.Context(), patient, project, ""); err == nil || !strings.Contains(err.Error(), "has no log of a relay") {
		t.Errorf("a database without a log: %v", err)
	}
	s := open(t, project, "")
	ids := []string{s.log}
	for round := range int64(3) {
		if err := s.SetNote(t.Context(), "control", fmt.Sprintf(`{"id":"%s-3"}`, s.log)); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			e := storetest.Event(fmt.Sprint(round, i))
			if results, err := s.Append(t.Context(), []event.Event{e}); err != nil || results[0].Duplicate {
				t.Fatalf("%+v, %v", results, err)
			}
		}
		s.Close()
		log, err := renewWithin(t.Context(), patient, project, "")
		if err != nil {
			t.Fatal(err)
		}
		s = open(t, project, "")
		ids = append(ids, log)
		head := 2 * (round + 1)
		if bounds, err := s.Bounds(t.Context()); err != nil || bounds != (hub.Bounds{Log: log, Head: head}) {
			t.Errorf("bounds %+v, %v; want the head %d of %s", bounds, err, head, log)
		}
		events, err := s.Read(t.Context(), 0, 100, 1<<20)
		if err != nil || len(events) != int(head) {
			t.Fatalf("under the ids %q there are %d events, %v", ids, len(events), err)
		}
		for i, e := range events {
			if want := (event.Cursor{Log: log, Seq: int64(i + 1)}); e.ID != want {
				t.Errorf("an event is %s, want %s", e.ID, want)
			}
		}
		if note, err := s.Note(t.Context(), "control"); err != nil || note != `{"id":"`+log+`-3"}` {
			t.Errorf("the note names %q, %v; want the event under the new id", note, err)
		}
		if results, err := s.Append(t.Context(), []event.Event{storetest.Event("0 0")}); err != nil || !results[0].Duplicate {
			t.Errorf("what it holds is stored again: %+v, %v", results, err)
		}
	}
	// The checksum still tells.
	if _, err := s.blocks().Doc(name(3)).Update(t.Context(), []firestore.Update{{Path: "writer", Value: "another"}}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, project, "")
	defer s.Close()
	if _, err := s.Read(t.Context(), 2, 100, 1<<20); err == nil || !strings.Contains(err.Error(), "event 3 is damaged") {
		t.Errorf("a changed block: %v", err)
	}
}
