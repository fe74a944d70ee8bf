package daemon

import "sync"

// purse keeps what sessions under way may take of the day's budget, in US dollars.
type purse struct {
	mu       sync.Mutex
	promised float64
	sessions int
}

// look tells how much is promised.
func (p *purse) look() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.promised
}

// promise sets so much aside for a session, until it is over. It fails if others have been
// promised too much of what is left for that.
func (p *purse) promise(usd, left float64) (over func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.promised+usd > left+0.005 { // rounding is no reason
		return nil, false
	}
	p.promised, p.sessions = p.promised+usd, p.sessions+1
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.promised, p.sessions = p.promised-usd, p.sessions-1; p.sessions == 0 {
			p.promised = 0 // drop rounding errors
		}
	}, true
}
