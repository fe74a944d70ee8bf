package firestore

import (
	"slices"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// Bounds of the recently read blocks in memory.
const (
	maxRecentBlocks = 256
	maxRecentBytes  = 24 << 20
)

// recent keeps the blocks that were read last, so that no block is read twice: when the store learns it and
// when the hub reads its events, or for each part of it.
type recent struct {
	blocks []decoded
	bytes  int
}

// decoded is a block's events, and their size in memory.
type decoded struct {
	first, last int64
	events      []event.Event
	bytes       int
	damage      *hub.Damage // why there are no events
}

// add keeps a block, and drops the oldest while there are too many.
func (r *recent) add(d decoded) {
	if r.find(d.first) != nil {
		return
	}
	r.blocks = append(r.blocks, d)
	r.bytes += d.bytes
	for len(r.blocks) > maxRecentBlocks || r.bytes > maxRecentBytes && len(r.blocks) > 1 {
		r.bytes -= r.blocks[0].bytes
		r.blocks = slices.Delete(r.blocks, 0, 1)
	}
}

// find returns the events of the block that holds the event numbered seq; nil if it is not in memory.
func (r *recent) find(seq int64) []event.Event {
	for _, d := range r.blocks {
		if d.first <= seq && seq <= d.last {
			return d.events
		}
	}
	return nil
}
