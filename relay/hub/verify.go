package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"

	"touchstone/relay/event"
)

// MaxProblems is how many problems Verify tells before it gives up: a log with more of
// them has one cause, which is not in the events.
const MaxProblems = 100

// ErrManyProblems is returned by Verify once it has told MaxProblems.
var ErrManyProblems = errors.New("there are too many problems to go on")

// Verify reads the whole log and checks what a Store promises: numbers without a gap, in
// order, from the floor to the head; each delivery once; and events that come out as
// they went in. It tells every problem as a sentence and returns the log's bounds. The
// error is about a store that cannot be read at all.
func Verify(ctx context.Context, store Store, tell func(problem string)) (Bounds, error) {
	bounds, err := store.Bounds(ctx)
	if err != nil {
		return Bounds{}, err
	}
	v := verifier{bounds: bounds, at: bounds.Floor, tell: tell, seed: maphash.MakeSeed(), seen: map[uint64]int64{}}
	for limit := maxBatchEvents; v.at < bounds.Head && v.problems < MaxProblems; {
		events, err := store.Read(ctx, v.at, limit, maxBatchBytes)
		switch {
		case ctx.Err() != nil:
			return bounds, context.Cause(ctx)
		case err != nil && limit > 1:
			limit = 1 // to find the one that cannot be read
			continue
		case err != nil:
			v.at++
			v.problem("event %d cannot be read: %v", v.at, err)
		case len(events) == 0:
			v.problem("events %d to %d are missing", v.at+1, bounds.Head)
			v.at = bounds.Head
		}
		for _, e := range events {
			v.event(e)
		}
		limit = maxBatchEvents
	}
	if v.problems >= MaxProblems {
		return bounds, ErrManyProblems
	}
	return bounds, nil
}

// verifier is one walk through a log.
type verifier struct {
	bounds   Bounds
	at       int64 // the last number that was dealt with
	tell     func(string)
	problems int
	// seen has a hash of each delivery: 16 bytes for an event, and no false alarm to
	// be expected in any log that fits a disk.
	seen map[uint64]int64
	seed maphash.Seed
}

func (v *verifier) problem(format string, a ...any) {
	v.problems++
	v.tell(fmt.Sprintf(format, a...))
}

func (v *verifier) event(e event.Event) {
	seq := e.ID.Seq
	switch {
	case seq <= v.at:
		v.problem("event %d stands behind event %d", seq, v.at)
		return
	case seq == v.at+2:
		v.problem("event %d is missing", v.at+1)
	case seq > v.at+1:
		v.problem("events %d to %d are missing", v.at+1, seq-1)
	}
	v.at = seq
	if e.ID.Log != v.bounds.Log {
		v.problem("event %d says that it is of log %q, not %q", seq, e.ID.Log, v.bounds.Log)
	}
	key := maphash.String(v.seed, e.Source+"\x00"+e.Delivery)
	if first, twice := v.seen[key]; twice {
		v.problem("event %d is the same delivery as event %d", seq, first)
	}
	v.seen[key] = seq
	if err := intact(e); err != nil {
		v.problem("event %d is damaged: %v", seq, err)
	}
}

// intact checks that an event says what every event says, and reaches a subscriber as
// it is stored.
func intact(e event.Event) error {
	if e.Source == "" || e.Delivery == "" || e.ReceivedAt.IsZero() {
		return errors.New("its source, its delivery or its time is missing")
	}
	if _, github := e.Headers["X-Github-Event"]; github && !json.Valid(e.Payload) {
		return errors.New("its payload is no JSON, as GitHub's always is")
	}
	if _, err := e.Control(); e.IsControl() && err != nil {
		return err
	}
	envelope, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	var back event.Event
	if err := json.Unmarshal(envelope, &back); err != nil {
		return fmt.Errorf("no subscriber could read it: %w", err)
	}
	if !bytes.Equal(back.Payload, e.Payload) || back.ID != e.ID || back.Delivery != e.Delivery {
		return errors.New("it would reach a subscriber changed")
	}
	return nil
}
