package hub

import (
	"context"
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
	// one. The events' own ID is ignored.
	Append(ctx context.Context, events []event.Event) ([]Appended, error)

	// Read returns events numbered above after, in order, at most limit of them and
	// no more once their payloads pass maxBytes, but one at least if there is one.
	Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error)

	// Follow calls changed, never twice at once, with the number of the newest event
	// whenever the log may hold events that no Append of this Store returned: those of
	// other relays, or of an append whose outcome was open. It blocks until ctx ends, or
	// until it cannot follow any longer or changed returns an error; then calling it
	// again is right, and makes up for what was missed.
	Follow(ctx context.Context, changed func(ctx context.Context, head int64) error) error

	// Trim removes the oldest events as long as they were received before the given
	// time, a bounded number of them in one call, and returns how many went. Events that
	// were appended together may stay until all of them are old.
	Trim(ctx context.Context, before time.Time) (int, error)

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

// Appended says what became of one event.
type Appended struct {
	// Seq is the number under which the event, or the earlier one like it, is stored.
	Seq int64
	// Duplicate is true when the delivery was stored already.
	Duplicate bool
}
