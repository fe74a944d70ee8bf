package hub

import (
	"context"
	"fmt"
	"time"

	"touchstone/relay/event"
)

// Store keeps the log on durable storage, which several relays may share. Every implementation passes the
// test suite in relay/storetest. Any number of goroutines may call its methods at the same time.
type Store interface {
	// Bounds returns the log's id and the range of events that it holds. A relay also calls it to see whether
	// its store is reachable.
	Bounds(ctx context.Context) (Bounds, error)

	// Append stores the events in order after the head and returns once they are durable. It stores all of
	// them or, with an error, none. If an error leaves the outcome open, they may turn up in the log all the
	// same; appending them again is safe in any case. An event is a duplicate and is not stored again if the
	// log, or an earlier event of the same call, has the same source and delivery. So is a SignedOnce event
	// if there is a SignedOnce event with the same source and Signature. The result of a duplicate names the
	// first event. The events' own ID is ignored.
	Append(ctx context.Context, events []event.Event) ([]Appended, error)

	// Read returns events numbered above after, in order: at most limit, and no more once their payloads
	// exceed maxBytes, but at least one if there is one. A checksum stored by Append proves each event
	// unchanged. The result ends before a damaged or missing event; if the first event is damaged or missing,
	// the error is a *Damage.
	Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error)

	// Follow calls changed with the number of the newest event whenever the log may hold events that no
	// Append of this Store returned: those of other relays, or of an append whose outcome was open. Calls of
	// changed do not overlap. Follow blocks until ctx ends, changed returns an error, or it cannot follow any
	// longer. Call it again then; it makes up for what was missed.
	Follow(ctx context.Context, changed func(ctx context.Context, head int64) error) error

	// Trim removes the oldest events that were received before the given time, a bounded number in one call,
	// and returns how many it removed. Events that were appended together may stay until all of them are old.
	// All events may stay while the caller's clock, from which the time comes, seems to be wrong.
	Trim(ctx context.Context, before time.Time) (int, error)

	// Inspect looks for damage that Read does not see, such as damage to an index, and calls tell with a
	// sentence for each. It returns how many events have no checksum because an older relay stored them.
	Inspect(ctx context.Context, tell func(problem string)) (unchecked int64, err error)

	// Stored returns which of a source's deliveries the log holds.
	Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error)

	// Note returns the text that SetNote last stored under a name; empty for none. Notes are small facts that
	// belong with the log, such as how far a recovery has come.
	Note(ctx context.Context, name string) (string, error)

	// SetNote stores a text under a name and returns once it is durable. All relays of one log share its
	// notes.
	SetNote(ctx context.Context, name, text string) error

	// Close releases the store. No method may be called after it.
	Close() error
}

// Bounds are the two ends of a log.
type Bounds struct {
	// Log is the log's id.
	Log string
	// Floor is the number of the last event that retention removed; zero for none.
	Floor int64
	// Head is the number of the newest event; equal to Floor when the log is empty.
	Head int64
}

// Damage is the error of a Read whose first event is missing or not what was appended. Reading can go on
// after Last.
type Damage struct {
	// First and Last are the first and the last event that cannot be read.
	First, Last int64
	// Cause says what is wrong.
	Cause error
}

// Error returns a sentence that names the events.
func (d *Damage) Error() string {
	if d.First == d.Last {
		return fmt.Sprintf("event %d is damaged: %v", d.First, d.Cause)
	}
	return fmt.Sprintf("events %d to %d are damaged: %v", d.First, d.Last, d.Cause)
}

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Cause }

// Appended is the outcome of appending one event.
type Appended struct {
	// Seq is the number of the stored event: this one or, for a duplicate, the earlier one.
	Seq int64
	// Duplicate is true when the event was stored already.
	Duplicate bool
	// OtherDelivery is true of a duplicate that was stored under another delivery id: a signed webhook was
	// sent again under a new id.
	OtherDelivery bool
}
