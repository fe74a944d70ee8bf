package hub

// Lag is how many events the log holds that the reader has not been handed yet. Events
// that its filters leave out do not count once the reader waits for one that they let
// through. It may be asked from any goroutine.
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
