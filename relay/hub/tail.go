package hub

import (
	"context"
	"fmt"
	"sync"

	"touchstone/relay/event"
)

// Bounds of the tail cache and of what one reader is handed at a time.
const (
	maxTailBytes   = 32 << 20
	maxBatchEvents = 256
	maxBatchBytes  = 1 << 20
	entryOverhead  = 1 << 10
)

// Entry is an event together with its frame, which is encoded once for all readers.
type Entry struct {
	event.Event

	once  sync.Once
	frame []byte
	err   error
}

// Frame is the event's SSE frame. It is shared: do not change it.
func (e *Entry) Frame() ([]byte, error) {
	e.once.Do(func() { e.frame, e.err = e.AppendFrame(nil) })
	return e.frame, e.err
}

// size is what the entry may take in memory: the payload and the frame made of it.
func (e *Entry) size() int { return entryOverhead + 2*len(e.Payload) }

// tail holds the log's bounds and its newest entries without a gap between them.
type tail struct {
	bounds  Bounds
	entries []*Entry
	bytes   int
}

// push adds the newest entry and lets the oldest go while there are too many. An
// entry that does not follow the last one starts the cache anew.
func (t *tail) push(e *Entry) {
	if e.ID.Seq != t.bounds.Head+1 {
		t.entries, t.bytes = nil, 0
	}
	t.bounds.Head = e.ID.Seq
	t.entries = append(t.entries, e)
	t.bytes += e.size()
	for t.bytes > maxTailBytes {
		t.dropOldest()
	}
}

func (t *tail) dropOldest() {
	t.bytes -= t.entries[0].size()
	t.entries[0] = nil
	t.entries = t.entries[1:]
}

// dropThrough forgets what retention removed from the store.
func (t *tail) dropThrough(floor int64) {
	t.bounds.Floor = max(t.bounds.Floor, floor)
	for len(t.entries) > 0 && t.entries[0].ID.Seq <= floor {
		t.dropOldest()
	}
}

// after returns the cached entries behind seq, and false if the cache begins later.
func (t *tail) after(seq int64) ([]*Entry, bool) {
	if len(t.entries) == 0 || t.entries[0].ID.Seq > seq+1 {
		return nil, false
	}
	from := int(seq + 1 - t.entries[0].ID.Seq)
	to, size := from, 0
	for to < len(t.entries) && to-from < maxBatchEvents && size < maxBatchBytes {
		size += len(t.entries[to].Payload)
		to++
	}
	return append([]*Entry(nil), t.entries[from:to]...), true
}

// Batch is what a reader finds behind its position.
type Batch struct {
	// GoneThrough is the last event that retention removed behind the reader's
	// position; zero when nothing is missing. Entries then begin after it.
	GoneThrough int64
	// Entries are the next events in order. They are shared: do not change them.
	Entries []*Entry
	// Wake is closed when there may be more; set when nothing is there now.
	Wake <-chan struct{}
}

// After returns what follows seq, from memory where it can and else from the store.
func (h *Hub) After(ctx context.Context, seq int64) (Batch, error) {
	h.mu.Lock()
	bounds, wake := h.tail.bounds, h.wake
	entries, cached := h.tail.after(seq)
	h.mu.Unlock()
	if seq >= bounds.Head {
		return Batch{Wake: wake}, nil
	}
	if cached {
		return Batch{Entries: entries}, nil
	}
	events, err := h.store.Read(ctx, seq, maxBatchEvents, maxBatchBytes)
	if err != nil {
		return Batch{}, fmt.Errorf("read the log: %w", err)
	}
	if len(events) == 0 {
		// All of it went between the look at the bounds and the read.
		return Batch{GoneThrough: bounds.Head}, nil
	}
	batch := Batch{Entries: make([]*Entry, len(events))}
	for i, e := range events {
		batch.Entries[i] = &Entry{Event: e}
	}
	if first := events[0].ID.Seq; first > seq+1 {
		batch.GoneThrough = first - 1
	}
	return batch, nil
}
