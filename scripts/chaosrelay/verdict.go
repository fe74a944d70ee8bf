package main

import (
	"fmt"
	"sync"
	"time"

	"touchstone/relay/event"
)

// subscriber is one reader of the log and what it saw.
type subscriber struct {
	world *world

	mu         sync.Mutex
	seen       map[int64]string // the delivery at each position
	last       int64
	duplicated int
	reordered  int
	// earliest and latest are the first and last times at which events were received, by the relays' clocks.
	earliest, latest time.Time
}

// span returns the time between the earliest and the latest received event.
func (s *subscriber) span() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest.Sub(s.earliest)
}

// record records an event. Without a filter each position has to follow the one before.
func (s *subscriber) record(e *event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.seen[e.ID.Seq]; twice {
		s.duplicated++
		return
	}
	if s.last != 0 && e.ID.Seq != s.last+1 {
		s.reordered++
	}
	if s.last == 0 || e.ReceivedAt.Before(s.earliest) {
		s.earliest = e.ReceivedAt
	}
	if e.ReceivedAt.After(s.latest) {
		s.latest = e.ReceivedAt
	}
	s.last = e.ID.Seq
	s.seen[e.ID.Seq] = e.Delivery
}

// missing counts the acknowledged deliveries that the subscriber has not seen.
func (s *subscriber) missing() int {
	s.mu.Lock()
	deliveries := map[string]bool{}
	for _, delivery := range s.seen {
		deliveries[delivery] = true
	}
	s.mu.Unlock()
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	missing := 0
	for delivery := range s.world.acknowledged {
		if !deliveries[delivery] {
			missing++
		}
	}
	return missing
}

// outcome is the result of a run.
type outcome struct {
	acknowledged, lost, duplicated, reordered, kills int
	details                                          []string
}

// String returns the last line of a run.
func (o outcome) String() string {
	return fmt.Sprintf("chaos: %d acknowledged, %d lost, %d duplicated, %d reordered, %d kills",
		o.acknowledged, o.lost, o.duplicated, o.reordered, o.kills)
}

func (o outcome) clean() bool {
	return o.acknowledged > 0 && o.lost+o.duplicated+o.reordered == 0
}

// judge compares what was acknowledged with what each subscriber saw, and the subscribers with each other.
func (w *world) judge() outcome {
	o := outcome{acknowledged: len(w.acknowledged), kills: w.kills, duplicated: len(w.conflicts), details: w.conflicts}
	order := w.subscribers[0].seen
	for delivery, id := range w.acknowledged {
		cursor, err := event.ParseCursor(id)
		if seen, there := order[cursor.Seq]; err != nil || there && seen != delivery {
			o.reordered++
			o.details = append(o.details, fmt.Sprintf("%s was acknowledged as %s, where %q is", delivery, id, seen))
		}
	}
	for i, s := range w.subscribers {
		o.lost += s.missing()
		o.duplicated += s.duplicated
		o.reordered += s.reordered
		once := map[string]int64{}
		for seq, delivery := range s.seen {
			if before, twice := once[delivery]; twice {
				o.duplicated++
				o.details = append(o.details, fmt.Sprintf("subscriber %d got %s at %d and at %d", i, delivery, before, seq))
			}
			once[delivery] = seq
			if other, both := order[seq]; both && other != delivery {
				o.reordered++
				o.details = append(o.details, fmt.Sprintf("at %d subscriber %d got %s, and the first one %s", seq, i, delivery, other))
			}
		}
	}
	return o
}
