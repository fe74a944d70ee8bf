package hub

import "context"

// Trim removes what is too old, now.
func (h *Hub) Trim(ctx context.Context) error { return h.trim(ctx) }
