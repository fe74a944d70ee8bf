package forgery

import (
	"net/http"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/worktree/steps"
)

// plan is what happens while the author's agent works: act runs right before GitHub processes the agent's call
// with the number at.
type plan struct {
	act func()
	at  int
	err error // why act failed
	// calls counts the agent's calls; merge is the number of the call that merges.
	calls, merge int
}

// intercept sees every request that reaches GitHub, and carries the plan out.
func (s *scene) intercept(login string, r *http.Request) githubsim.Fault {
	if login != arena.Author || r.UserAgent() == rest.ByHand {
		return githubsim.Fault{}
	}
	_ = s.Sim.Settle(s.Ctx) // fails only at the end of everything
	p := &s.plan
	p.calls++
	if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") && p.merge == 0 {
		p.merge = p.calls
	}
	if p.act != nil && p.calls == p.at {
		p.err = steps.Try(p.act)
	}
	return githubsim.Fault{}
}
