package hub

import "container/list"

// maxHeldBytes bounds the memory of the entries that readers hold. An entry counts once, however many readers
// hold it. The bound has room for three of the largest webhooks, or for a thousand readers that replay usual
// webhooks from a thousand different positions.
const maxHeldBytes = 256 << 20

// held counts the entries that readers have not released: a slow reader keeps entries in memory that nothing
// else needs. The hub's mu guards it.
type held struct {
	bytes   int
	readers list.List // of *Reader; the one that has held its entries longest comes first
}

// add counts the entries that a reader was given. While the readers hold more than maxHeldBytes, it drops the
// reader that has held its entries longest.
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
