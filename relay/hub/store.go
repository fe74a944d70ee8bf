package hub

import (
	"context"
	"fmt"
	"time"

	"touchstone/relay/event"
)

// Store keeps the log on durable storage, which several relays may share. Every
// implementation passes the suite in relay/storetest. Its methods may be called at the
// same time from many goroutines.
type Store interface {
	// Bounds says which log this is and which events it holds. It is also the
	// question by which a relay learns whether its store is reachable.
	Bounds(ctx context.Context) (Bounds, error)

	// Append stores the events in order behind the head and returns once they are
	// durable: all of them, or, with an error, none. After an error that leaves the
	// outcome open they may turn up in the log all the same; appending them again is
	// right in any case. An event whose source and delivery the log holds, or that
	// stand earlier in the same call, is not stored again; its result names the first
	// one. Nor is one that is SignedOnce, when such an event of its source with its
	// Signature is there. The events' own ID is ignored.
	Append(ctx context.Context, events []event.Event) ([]Appended, error)

	// Read returns events numbered above after, in order, at most limit of them and
	// no more once their payloads pass maxBytes, but one at least if there is one. They are
	// as Append got them, by a checksum that it has kept. What is not, or is missing, ends
	// the result; where it would come first, the error is a *Damage.
	Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error)

	// Follow calls changed, never twice at once, with the number of the newest event each
	// time the log may hold events that no Append of this Store returned: those of other
	// relays, or of an append whose outcome was open. It blocks until ctx ends, or until it
	// cannot follow any longer or changed returns an error; then calling it again is right,
	// and makes up for what was missed.
	Follow(ctx context.Context, changed func(ctx context.Context, head int64) error) error

	// Trim removes the oldest events as long as they were received before the given
	// time, a bounded number of them in one call, and returns how many went. Events that
	// were appended together may stay until all of them are old, and all of them while the
	// caller's clock, by which the time is, seems not to be right.
	Trim(ctx context.Context, before time.Time) (int, error)

	// Inspect looks for damage that no Read meets, such as in an index, and tells each as a
	// sentence. It returns how many events have no checksum, as older relays stored them.
	Inspect(ctx context.Context, tell func(problem string)) (unchecked int64, err error)

	// Stored returns those of a source's deliveries that the log holds.
	Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error)

	// Note returns the text that SetNote last kept under a name; empty for none. Notes
	// are small facts that belong with the log, such as how far a recovery has come.
	Note(ctx context.Context, name string) (string, error)

	// SetNote returns once the text is durable. All relays of one log share its notes.
	SetNote(ctx context.Context, name, text string) error

	// Close releases the store; nothing else may be called after it.
	Close() error
}

// Bounds are the ends of a log.
type Bounds struct {
	// Log is the log's id.
	Log string
	// Floor is the number of the last event that retention removed; zero for none.
	Floor int64
	// Head is the number of the newest event; equal to Floor when the log is empty.
	Head int64
}

// Damage is the error of a Read that comes to events which are not as they were appended.
// Reading on behind Last is right.
type Damage struct {
	// First and Last are the events that cannot be read.
	First, Last int64
	// Cause says what is wrong.
	Cause error
}

// Error is a sentence that names the events.
func (d *Damage) Error() string {
	if d.First == d.Last {
		return fmt.Sprintf("event %d is damaged: %v", d.First, d.Cause)
	}
	return fmt.Sprintf("events %d to %d are damaged: %v", d.First, d.Last, d.Cause)
}

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Cause }

// Appended says what became of one event.
type Appended struct {
	// Seq is the number under which the event, or the earlier one like it, is stored.
	Seq int64
	// Duplicate is true when the event was stored already.
	Duplicate bool
	// OtherDelivery is true of a duplicate that was stored under another delivery: a signed
	// webhook was sent again under a new id.
	OtherDelivery bool
}
