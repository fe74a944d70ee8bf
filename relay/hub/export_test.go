package hub

import "context"

// Trim removes old events now.
func (h *Hub) Trim(ctx context.Context) error { return h.trim(ctx) }

// Encoded reports whether the entry's frame is encoded.
func (e *Entry) Encoded() bool { return e.frame != nil }
