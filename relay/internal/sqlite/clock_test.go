package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/storetest"
)

// hands are the two clocks of a test: the machine's time and the running time.
type hands struct {
	wall time.Time
	ran  time.Duration
}

func (h *hands) run(d time.Duration) { h.wall, h.ran = h.wall.Add(d), h.ran+d }

// kept returns how many events are left of those received an hour and a hundred days ago by the right clock,
// after a trim by the wrong one.
func kept(t *testing.T, s *Store, retention time.Duration) int64 {
	t.Helper()
	now, _ := s.now()
	if _, err := s.Trim(t.Context(), now.Add(-retention)); err != nil {
		t.Fatal(err)
	}
	b, err := s.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b.Head - b.Floor
}

// A clock that goes ahead by hours or years makes no event too old, not even after a restart, unless it stays
// ahead for a day. A clock that is set back, or a machine that was off for a night, changes nothing.
func TestClockThatLeaps(t *testing.T) {
	const retention, day = 30 * 24 * time.Hour, 24 * time.Hour
	path := filepath.Join(t.TempDir(), "relay.db")
	clock := hands{wall: time.Now()}
	var s *Store
	start := func() {
		t.Helper()
		clock.ran = 0
		var err error
		if s, err = Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		s.now = func() (time.Time, time.Duration) { return clock.wall, clock.ran }
	}
	start()
	defer func() { s.Close() }()
	if n := kept(t, s, retention); n != 0 {
		t.Fatalf("an empty log has %d events", n)
	}
	for _, ago := range []time.Duration{29 * day, time.Hour} {
		e := storetest.Event(ago.String())
		e.ReceivedAt = clock.wall.Add(-ago)
		if _, err := s.Append(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	restart := func() {
		t.Helper()
		must(t, s.Close())
		start()
	}
	for _, step := range []struct {
		what string
		do   func()
		want int64
	}{
		{"right", func() { clock.run(time.Minute) }, 2},
		{"three years ahead", func() { clock.wall = clock.wall.AddDate(3, 0, 0) }, 2},
		{"still so, hours later", func() { clock.run(20 * time.Hour) }, 2},
		{"and the relay is started anew", restart, 2},
		{"right again", func() { clock.wall = clock.wall.AddDate(-3, 0, 0); clock.run(time.Minute) }, 2},
		{"a year behind", func() { clock.wall = clock.wall.AddDate(-1, 0, 0); clock.run(time.Minute) }, 2},
		{"right after that", func() { clock.wall = clock.wall.AddDate(1, 0, 0); clock.run(time.Minute) }, 2},
		{"right for a day, in which one grew too old", func() { clock.run(25 * time.Hour) }, 1},
		{"off for a year", func() { clock.wall = clock.wall.AddDate(1, 0, 0); restart() }, 1},
		{"most of a day after that", func() { clock.run(20 * time.Hour) }, 1},
		{"started anew meanwhile", restart, 1},
		{"a day after that", func() { clock.run(5 * time.Hour) }, 0},
	} {
		step.do()
		if n := kept(t, s, retention); n != step.want {
			t.Fatalf("%s: %d events are left, want %d", step.what, n, step.want)
		}
	}
	// What is gone is forgotten.
	results, err := s.Append(t.Context(), []event.Event{storetest.Event(time.Hour.String())})
	if err != nil || results[0].Seq != 3 || results[0].Duplicate {
		t.Errorf("sent again, an event that is gone got %+v, %v", results, err)
	}
}

// What arrived while the clock was ahead goes with what arrived after it: otherwise nothing would be removed
// until that time comes.
func TestEventsFromTheFutureKeepNothing(t *testing.T) {
	const retention, day = 30 * 24 * time.Hour, 24 * time.Hour
	s := opened(t, filepath.Join(t.TempDir(), "relay.db"))
	clock := hands{wall: time.Now()}
	s.now = func() (time.Time, time.Duration) { return clock.wall, clock.ran }
	receive := func(count int) {
		t.Helper()
		var events []event.Event
		for i := range count {
			e := storetest.Event(fmt.Sprint(clock.wall, i))
			e.ReceivedAt = clock.wall
			events = append(events, e)
		}
		if _, err := s.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	receive(1)
	clock.wall = clock.wall.AddDate(10, 0, 0)
	receive(trimLimit + 1)
	clock.wall = clock.wall.AddDate(-10, 0, 0)
	clock.run(day)
	receive(1)
	if n := kept(t, s, retention); n != trimLimit+3 {
		t.Fatalf("%d events are left on the first day", n)
	}
	clock.run(retention + time.Hour)
	receive(1)
	for _, want := range []int64{4, 1, 1} {
		if n := kept(t, s, retention); n != want {
			t.Errorf("%d events are left, want %d", n, want)
		}
	}
}

// A relay that was off for long does not trust the clock yet, but what it has received since is no event of the future,
// even if the clock was wrong for a moment after that.
func TestWhatArrivesAfterALongBreakIsNotRemoved(t *testing.T) {
	const retention, day = 3 * 24 * time.Hour, 24 * time.Hour
	s := opened(t, filepath.Join(t.TempDir(), "relay.db"))
	clock := hands{wall: time.Now()}
	s.now = func() (time.Time, time.Duration) { return clock.wall, clock.ran }
	receive := func(at time.Time) {
		t.Helper()
		e := storetest.Event(at.String())
		e.ReceivedAt = at
		if _, err := s.Append(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	kept(t, s, retention)
	clock.wall = clock.wall.Add(7 * day)
	kept(t, s, retention)
	receive(clock.wall)
	receive(time.Unix(60, 0)) // a machine that keeps no time while it is off
	receive(clock.wall.Add(time.Minute))
	clock.run(2 * time.Minute)
	if n := kept(t, s, retention); n != 3 {
		t.Errorf("%d events of the last minutes are left, want 3", n)
	}
}
