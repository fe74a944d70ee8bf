package worker

import "sync"

// reservations hold how much of the day's budget running sessions may still spend, in US dollars.
type reservations struct {
	mu       sync.Mutex
	promised float64
	sessions int
}

// look returns how much is promised.
func (r *reservations) look() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.promised
}

// promise reserves an amount for a session until over is called. It fails if too little is left besides what
// others have reserved.
func (r *reservations) promise(usd, left float64) (over func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.promised+usd > left+0.005 { // tolerate rounding
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
