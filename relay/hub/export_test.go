package hub

import "context"

// Trim removes what is too old, now.
func (h *Hub) Trim(ctx context.Context) error { return h.trim(ctx) }

// Encoded reports whether the entry's frame is there.
func (e *Entry) Encoded() bool { return e.frame != nil }
