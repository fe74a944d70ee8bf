package daemon

import "sync"

// reservations keep what sessions under way may take of the day's budget, in US dollars.
type reservations struct {
	mu       sync.Mutex
	promised float64
	sessions int
}

// look tells how much is promised.
func (r *reservations) look() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.promised
}

// promise sets so much aside for a session, until it is over. It fails if others have been
// promised too much of what is left for that.
func (r *reservations) promise(usd, left float64) (over func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.promised+usd > left+0.005 { // rounding is no reason
		return nil, false
	}
	r.promised, r.sessions = r.promised+usd, r.sessions+1
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.promised, r.sessions = r.promised-usd, r.sessions-1; r.sessions == 0 {
			r.promised = 0 // drop rounding errors
		}
	}, true
}
