package hub

import "container/list"

// maxHeldBytes bounds what readers hold, each entry counted once however many have it.
// It has room for three of the largest webhooks, or for a thousand readers that replay
// usual ones at as many different places.
const maxHeldBytes = 256 << 20

// held is what readers were handed and have not let go of: those that are slow keep in
// memory what nothing else needs any more. The hub's mu guards it.
type held struct {
	bytes   int
	readers list.List // of *Reader; first who holds something for the longest time
}

// add counts what a reader was handed. When that is too much, those who hold something
// for the longest time are dropped.
func (h *held) add(r *Reader, entries []*Entry) {
	h.remove(r)
	if len(entries) == 0 {
		return
	}
	for _, e := range entries {
		if e.holders++; e.holders == 1 {
			h.bytes += e.size()
		}
	}
	r.held, r.place = entries, h.readers.PushBack(r)
	for h.bytes > maxHeldBytes && h.readers.Len() > 1 {
		slowest := h.readers.Front().Value.(*Reader)
		h.remove(slowest)
		if slowest.Drop != nil {
			slowest.Drop()
		}
	}
}

func (h *held) remove(r *Reader) {
	if r.place == nil {
		return
	}
	h.readers.Remove(r.place)
	for _, e := range r.held {
		if e.holders--; e.holders == 0 {
			h.bytes -= e.size()
		}
	}
	r.held, r.place = nil, nil
}
