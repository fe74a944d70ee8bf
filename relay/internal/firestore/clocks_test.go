package firestore

import (
	"fmt"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// skewed opens the log for a relay whose clock is ahead of this machine's, or behind it.
func skewed(t *testing.T, project string, ahead time.Duration) *Store {
	t.Helper()
	s := open(t, project, "")
	s.now = func() time.Time { return time.Now().Add(ahead) }
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// receivedBy returns an event with the time of a relay's clock.
func receivedBy(s *Store, delivery string) event.Event {
	e := storetest.Event(delivery)
	e.ReceivedAt = s.now().UTC()
	return e
}

// Relays whose clocks are days apart append and trim as if all clocks were right: no cursor stands for two
// events, no event is removed before its retention is over, and no delivery is stored twice.
func TestSkewedClocks(t *testing.T) {
	const retention, events = time.Hour, 12
	project := project(t)
	relays := []*Store{
		skewed(t, project, 0), skewed(t, project, 100*time.Hour), skewed(t, project, -100*time.Hour), skewed(t, project, 9000*time.Hour),
	}
	trim := func(what string, keep time.Duration, want int64) {
		t.Helper()
		for i, s := range relays {
			s.grace = 0
			if _, err := s.Trim(t.Context(), s.now().Add(-keep)); err != nil {
				t.Fatal(err)
			}
			if b, err := s.Bounds(t.Context()); err != nil || b.Floor != want || b.Head != events {
				t.Errorf("%s: after relay %d the bounds are %+v, %v; want the floor %d and the head %d", what, i, b, err, want, events)
			}
		}
	}
	for i := range events {
		s := relays[i%len(relays)]
		results, err := s.Append(t.Context(), []event.Event{receivedBy(s, fmt.Sprint(i))})
		if err != nil || results[0] != (hub.Appended{Seq: int64(i + 1)}) {
			t.Fatalf("event %d came to be %+v, %v", i, results, err)
		}
	}
	trim("within the retention", retention, 0)
	for i, s := range relays {
		read, err := s.Read(t.Context(), 0, 100, 1<<20)
		if err != nil || len(read) != events {
			t.Fatalf("relay %d reads %d events, %v", i, len(read), err)
		}
		for n, e := range read {
			if e.ID.Seq != int64(n+1) || e.Delivery != fmt.Sprint(n) {
				t.Errorf("relay %d has delivery %s at %s", i, e.Delivery, e.ID)
			}
		}
	}
	trim("behind the retention", -time.Hour, events)
	for i, s := range relays {
		results, err := s.Append(t.Context(), []event.Event{receivedBy(s, fmt.Sprint(i))})
		if want := (hub.Appended{Seq: int64(i + 1), Duplicate: true}); err != nil || results[0] != want {
			t.Errorf("relay %d takes what was sent before for %+v, %v; want %+v", i, results, err, want)
		}
	}
}
