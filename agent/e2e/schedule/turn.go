package schedule

import (
	"context"
	"net/http"
	"time"

	"touchstone/agent/daemon"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

// plan is what happens during an agent's turn: at its call number at, counted from
// 1, the first and only one of do, fault and death.
type plan struct {
	login string
	at    int
	calls int
	do    func(context.Context) error
	fault githubsim.Fault
	kill  context.CancelFunc
	dead  bool
}

// intercept is asked about every request that reaches GitHub.
func (w *world) intercept(ctx context.Context, login string, r *http.Request) githubsim.Fault {
	w.mu.Lock()
	p := &w.plan
	if login != p.login || r.UserAgent() == arena.ByHand {
		w.mu.Unlock()
		return githubsim.Fault{}
	}
	p.calls++
	due := p.calls == p.at
	if due && p.kill != nil {
		p.dead = true
		p.kill()
	}
	do, fault, dead := p.do, p.fault, p.dead
	w.mu.Unlock()
	switch {
	case due && do != nil:
		// A push that comes too late to be one is no error.
		_ = do(ctx)
	case !due && dead:
		return githubsim.Fault{Drop: githubsim.DropBefore}
	case !due:
		return githubsim.Fault{}
	}
	return fault
}

// patience bounds one turn. It is shorter than the waits that GitHub asks for, so
// that an agent that is told to wait gives up its turn.
const patience = 20 * time.Second

// turn lets an agent look and do one thing, perhaps with something going wrong.
func (w *world) turn(ctx context.Context, role verdict.Role) error {
	turn, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	next := plan{login: map[verdict.Role]string{verdict.Reviewer: arena.Judge, verdict.Author: arena.Author}[role], at: 1 + w.random.IntN(24)}
	switch w.random.IntN(12) {
	case 0, 1:
		next.kill = cancel
		next.fault.Drop = []githubsim.Drop{githubsim.DropBefore, githubsim.DropAfter}[w.random.IntN(2)]
		w.note("  it dies at call %d", next.at)
	case 2:
		next.fault.Status = []int{500, 502, 403, 409, 422, 429}[w.random.IntN(6)]
		w.note("  call %d is answered %d", next.at, next.fault.Status)
	case 3:
		next.fault.Drop = githubsim.DropAfter
		w.note("  the answer of call %d is lost", next.at)
	case 4, 5:
		text := w.text()
		next.do = func(ctx context.Context) error {
			return w.push(ctx, arena.Person, w.branch, map[string]string{w.file: text})
		}
		w.note("  a person pushes at call %d", next.at)
	case 6:
		next.do = func(ctx context.Context) error {
			return w.push(ctx, arena.Person, "main", map[string]string{"moved.md": "moved\n"})
		}
		w.note("  the base moves at call %d", next.at)
	case 7:
		if role == verdict.Author {
			next.do = func(ctx context.Context) error {
				w.act(ctx, w.twin, "another machine's author")
				return nil
			}
			w.note("  another machine's author works at call %d", next.at)
		}
	default:
		next.at = 0
	}
	w.during(next)
	w.act(turn, w.agents[role], string(role))
	if died := w.during(plan{}).dead; !died {
		return nil
	}
	return w.start(role)
}

// during makes p what happens from now on, and returns what did until then.
func (w *world) during(p plan) plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.plan
	w.plan = p
	return before
}

// act has an agent look at the pull request and do what it decides. It reports
// whether there was anything to do.
func (w *world) act(ctx context.Context, agent *daemon.Agent, name string) (acted bool) {
	pr, action, err := agent.Look(ctx, w.ref)
	if err == nil {
		switch action.Kind {
		case verdict.Wait, verdict.Skip, verdict.Done:
			w.note("  %s: %s, %s", name, action.Kind, action.Reason)
			return action.Recheck > 0
		}
		_, err = agent.Act(ctx, pr, action)
	}
	w.note("  %s: %s %.7s, %s: %v", name, action.Kind, action.SHA, action.Reason, err)
	return true
}

// finish lets the agents work undisturbed until neither has anything left to do.
func (w *world) finish(ctx context.Context) error {
	w.note("the agents finish")
	const enough = 40
	for range enough {
		if err := w.Sim.Settle(ctx); err != nil {
			return err
		}
		reviewing := w.act(ctx, w.agents[verdict.Reviewer], "reviewer")
		if fixing := w.act(ctx, w.agents[verdict.Author], "author"); !reviewing && !fixing {
			return nil
		}
	}
	w.result.Stuck = "the agents find no end"
	return nil
}
