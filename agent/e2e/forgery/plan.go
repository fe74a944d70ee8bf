package forgery

import (
	"net/http"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
)

// plan is what happens while the author's agent works: act, right before GitHub does
// anything about the agent's call number at.
type plan struct {
	act func() error
	at  int
	err error // of act
	// calls counts the agent's calls, merge is the number of the one that merges.
	calls, merge int
}

// intercept is asked about every request that reaches GitHub.
func (s *scene) intercept(login string, r *http.Request) githubsim.Fault {
	if login != arena.Author || r.UserAgent() == rest.ByHand {
		return githubsim.Fault{}
	}
	_ = s.Sim.Settle(s.ctx) // fails at the end of all only
	p := &s.plan
	p.calls++
	if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") && p.merge == 0 {
		p.merge = p.calls
	}
	if p.act != nil && p.calls == p.at {
		p.err = p.act()
	}
	return githubsim.Fault{}
}
