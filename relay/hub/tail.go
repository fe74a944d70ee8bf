package hub

import (
	"sync"

	"touchstone/relay/event"
	"touchstone/relay/internal/segment"
)

// Bounds of the tail cache and of one reader's batch.
const (
	maxTailBytes   = 48 << 20
	maxBatchEvents = 256
	maxBatchBytes  = 256 << 10
	entryOverhead  = 1 << 10
)

// Entry is an event and its frame. The frame is encoded once for all readers, and compressed once for all
// readers that accept compression.
type Entry struct {
	event.Event

	encode   sync.Once
	frame    []byte
	frameErr error

	compress   sync.Once
	segment    segment.Segment
	segmentErr error

	holders int // how many readers hold the entry; the hub's mu guards it
}

// Frame returns the event's SSE frame. It is shared: do not change it.
func (e *Entry) Frame() ([]byte, error) {
	e.encode.Do(func() { e.frame, e.frameErr = e.AppendFrame(nil) })
	return e.frame, e.frameErr
}

// Segment returns the event's frame as a segment of a gzip stream.
func (e *Entry) Segment() (segment.Segment, error) {
	e.compress.Do(func() {
		frame, err := e.Frame()
		if err != nil {
			e.segmentErr = err
			return
		}
		e.segment, e.segmentErr = segment.Compress(frame)
	})
	return e.segment, e.segmentErr
}

// size estimates what the entry takes in memory at most: the payload and what was read in it, its frame, and the
// compressed frame.
func (e *Entry) size() int { return entryOverhead + 3*len(e.Payload) }

// tail holds the log's bounds and its newest entries without a gap between them.
type tail struct {
	bounds  Bounds
	entries []*Entry
	bytes   int
}

// push adds the newest entry and drops the oldest while the cache is too large. An entry that does not follow
// the last one clears the cache first.
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

// pass moves the head past events that cannot be read.
func (t *tail) pass(last int64) {
	t.entries, t.bytes = nil, 0
	t.bounds.Head = last
}

func (t *tail) dropOldest() {
	t.bytes -= t.entries[0].size()
	t.entries[0] = nil
	t.entries = t.entries[1:]
}

// dropThrough forgets events that retention removed from the store.
func (t *tail) dropThrough(floor int64) {
	t.bounds.Floor = max(t.bounds.Floor, floor)
	for len(t.entries) > 0 && t.entries[0].ID.Seq <= floor {
		t.dropOldest()
	}
}

// after returns the cached entries after seq, or none if the cache begins later.
func (t *tail) after(seq int64) []*Entry {
	if len(t.entries) == 0 || t.entries[0].ID.Seq > seq+1 {
		return nil
	}
	from := int(seq + 1 - t.entries[0].ID.Seq)
	to, size := from, 0
	for to < len(t.entries) && to-from < maxBatchEvents && size < maxBatchBytes {
		size += len(t.entries[to].Payload)
		to++
	}
	return append([]*Entry(nil), t.entries[from:to]...)
}
