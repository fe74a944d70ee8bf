package forgery

import (
	"net/http"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// plan is what happens while the author's agent merges: act, right before the call of
// number at, counted from the merge call backwards: at 0 it comes when GitHub has read the
// agent's order to merge, and has done nothing about it yet.
type plan struct {
	act   func() error
	at    int // counted from the turn's first call
	calls int
	err   error
}

// intercept is asked about every request that reaches GitHub.
func (s *scene) intercept(login string, r *http.Request) githubsim.Fault {
	if login != arena.Author || r.UserAgent() == arena.ByHand {
		return githubsim.Fault{}
	}
	_ = s.Sim.Settle(s.ctx) // fails at the end of all only
	s.mu.Lock()
	p := &s.plan
	p.calls++
	due := p.act != nil && p.calls == p.at
	s.mu.Unlock()
	if due {
		p.err = p.act()
	}
	return githubsim.Fault{}
}
