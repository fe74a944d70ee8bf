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

// MaxProblems is how many problems Verify reports before it gives up. A log with more problems has one cause,
// which is not in the events.
const MaxProblems = 100

// ErrManyProblems is returned by Verify once it has reported MaxProblems.
var ErrManyProblems = errors.New("too many problems; verification stopped")

// Report is what Verify found in a log, besides problems.
type Report struct {
	// Bounds are the log's bounds.
	Bounds Bounds
	// Unchecked is how many events have no checksum because an older relay stored them. Only their senders'
	// signatures can tell whether they are unchanged.
	Unchecked int64
	// Proved is how many events match the signature that came with them.
	Proved int64
	// Unproved is how many events do not match their signature and stand before every event of their source
	// that does: they may have been signed with a secret that has been replaced since.
	Unproved int64
}

// Verify reads the whole log and checks what a Store promises: numbers from floor to head, in order and
// without gaps; each delivery once; events unchanged. Prove says whether an event matches the signature that
// came with it; known is false if it cannot tell. Verify calls tell with a sentence for every problem. The
// error is about a store that cannot be read at all.
func Verify(ctx context.Context, store Store, prove func(e event.Event) (fits, known bool), tell func(problem string)) (Report, error) {
	bounds, err := store.Bounds(ctx)
	if err != nil {
		return Report{}, err
	}
	v := verifier{report: Report{Bounds: bounds}, at: bounds.Floor, tell: tell, prove: prove, seed: maphash.MakeSeed(),
		seen: map[uint64]int64{}, proved: map[string]bool{}}
	if err := v.log(ctx, store); err != nil {
		return v.report, err
	}
	v.report.Unchecked, err = store.Inspect(ctx, func(problem string) { v.problem("%s", problem) })
	return v.report, err
}

// log reads the log from end to end.
func (v *verifier) log(ctx context.Context, store Store) error {
	bounds := v.report.Bounds
	for v.at < bounds.Head && v.problems < MaxProblems {
		events, err := store.Read(ctx, v.at, maxBatchEvents, maxBatchBytes)
		damage := (*Damage)(nil)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &damage):
			v.problem("%s", damage.Error())
			v.at = damage.Last
		case err != nil:
			return err
		case len(events) == 0:
			v.problem("events %d to %d are missing", v.at+1, bounds.Head)
			v.at = bounds.Head
		}
		for _, e := range events {
			v.event(e)
		}
	}
	if v.problems >= MaxProblems {
		return ErrManyProblems
	}
	return nil
}

// verifier is one pass over a log.
type verifier struct {
	report   Report
	at       int64 // the last number that was checked
	tell     func(string)
	problems int
	prove    func(event.Event) (fits, known bool)
	proved   map[string]bool // the sources that have an event that matched its signature
	// seen has a hash of each delivery: 16 bytes for each event, and no false alarm to expect in any log that
	// fits on a disk.
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
		v.problem("event %d follows event %d, in the wrong order", seq, v.at)
		return
	case seq == v.at+2:
		v.problem("event %d is missing", v.at+1)
	case seq > v.at+1:
		v.problem("events %d to %d are missing", v.at+1, seq-1)
	}
	v.at = seq
	if e.ID.Log != v.report.Bounds.Log {
		v.problem("event %d belongs to log %q, not %q", seq, e.ID.Log, v.report.Bounds.Log)
	}
	key := maphash.String(v.seed, e.Source+"\x00"+e.Delivery)
	if first, twice := v.seen[key]; twice {
		v.problem("event %d is the same delivery as event %d", seq, first)
	}
	v.seen[key] = seq
	if err := intact(e); err != nil {
		v.problem("event %d is damaged: %v", seq, err)
	}
	switch fits, known := v.prove(e); {
	case fits:
		v.report.Proved++
		v.proved[e.Source] = true
	case known && v.proved[e.Source]:
		v.problem("the signature of event %d does not match, though earlier ones do: the event was changed, or another secret signed it", seq)
	case known:
		v.report.Unproved++
	}
}

// intact checks that an event has what every event has, and that it reaches a subscriber as it is stored.
func intact(e event.Event) error {
	if e.Source == "" || e.Delivery == "" || e.ReceivedAt.IsZero() {
		return errors.New("its source, delivery or time is missing")
	}
	if _, github := e.Headers["X-Github-Event"]; github && !json.Valid(e.Payload) {
		return errors.New("its payload is not JSON, as GitHub's always is")
	}
	if _, err := e.Settings(); e.IsSettings() && err != nil {
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
		return errors.New("a subscriber would receive it changed")
	}
	return nil
}
