package hub

// Lag returns how many events of the log the reader has not been given yet. While the reader waits, events
// that its filters leave out do not count, up to the first event that they let through. Any goroutine may
// call it.
func (r *Reader) Lag() int64 {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	head := r.hub.tail.bounds.Head
	switch {
	case r.waiting && r.match == 0:
		return 0
	case r.waiting:
		return head - r.match + 1
	}
	return max(head-r.at, 0)
}
