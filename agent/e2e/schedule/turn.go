package schedule

import (
	"context"
	"errors"
	"net/http"
	"time"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// plan is what happens during an agent's turn: do and fault take effect once, at the call with the number at,
// counted from 1. A machine that dies makes no call after it.
type plan struct {
	login string
	at    int
	// writes counts only the calls that change something.
	writes bool
	calls  int
	do     func()
	fault  githubsim.Fault
	dies   bool
	dead   bool
	// after, if set, is called when the turn is over.
	after func()
}

// The reasons why a turn ends early.
var (
	errDied  = errors.New("the machine lost power")
	errNewer = errors.New("a newer commit was pushed")
)

// intercept decides the fault of every request that reaches GitHub.
func (w *world) intercept(login string, r *http.Request) githubsim.Fault {
	if r.UserAgent() == rest.ByHand {
		return githubsim.Fault{}
	}
	// GitHub first finishes its background work, so that a seed always means the same.
	_ = w.Sim.Settle(w.Ctx) // fails only at the end of everything
	w.mu.Lock()
	p := &w.plan
	if login != p.login || p.writes && !p.dead && !writes(r) {
		w.mu.Unlock()
		return githubsim.Fault{}
	}
	p.calls++
	due := p.calls == p.at
	p.dead = p.dead || due && p.dies
	do, fault, dead := p.do, p.fault, p.dead
	w.mu.Unlock()
	switch {
	case due && do != nil:
		// A push that comes too late is no error.
		_ = steps.Try(do)
	case !due && dead:
		return githubsim.Fault{Drop: githubsim.DropBefore}
	case !due:
		return githubsim.Fault{}
	}
	return fault
}

// patience limits one turn. It is shorter than the waits that GitHub asks for, so that an agent that has to
// wait gives up its turn.
const patience = 20 * time.Second

// turn lets a machine look and do one thing, possibly with a mishap.
func (w *world) turn(m *machine) {
	timed, stop := context.WithTimeout(w.Ctx, patience)
	defer stop()
	turn, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	w.during(w.mishap(m, cancel))
	w.act(turn, m)
	switch past := w.during(plan{}); {
	case past.after != nil:
		past.after()
	case past.dead:
		w.start(m)
	}
}

// mishap returns what goes wrong in a machine's turn, if anything does.
func (w *world) mishap(m *machine, cancel context.CancelCauseFunc) plan {
	// Few turns have that many calls.
	next := plan{login: m.login(), at: 1 + min(w.random.IntN(30), w.random.IntN(30))}
	push := func(login, branch string, files map[string]string) func() {
		return func() { w.push(login, branch, files) }
	}
	switch w.random.IntN(19) {
	case 0, 1:
		next.dies = true
		next.fault.Done = func() { cancel(errDied) }
		next.fault.Drop = []githubsim.Drop{githubsim.DropBefore, githubsim.DropAfter}[w.random.IntN(2)]
		w.note("  it dies at call %d", next.at)
	case 2:
		next.fault.Status = []int{500, 502, 503, 403, 409, 422, 429}[w.random.IntN(7)]
		w.note("  call %d is answered %d", next.at, next.fault.Status)
	case 3:
		next.fault.Drop = githubsim.DropAfter
		w.note("  the answer of call %d is lost", next.at)
	case 4, 5:
		next.do = push(arena.Person, branch, map[string]string{file: w.text()})
		w.note("  a person pushes at call %d", next.at)
		if w.random.IntN(2) == 0 {
			next.fault.Done = func() { cancel(errNewer) }
			w.note("  and it is told of that at once")
		}
	case 6:
		next.do = push(arena.Person, "main", map[string]string{"moved.md": "moved\n"})
		w.note("  the base moves at call %d", next.at)
	case 7:
		next.do = w.rewrite()
		w.note("  a person force-pushes at call %d", next.at)
	case 8, 9:
		other := w.machines[w.random.IntN(len(w.machines))]
		// An agent would wait for the locks of another one on its machine, which waits for the call to be answered.
		if other == m || w.shared() && other.name == m.name {
			break
		}
		next.do = func() { w.act(w.Ctx, other) }
		w.note("  at call %d, it is the turn of the %s", next.at, other)
	case 10:
		w.Sim.SetFaults(githubsim.Faults{NullMergeable: 1})
		w.note("  GitHub does not know yet whether it merges")
	case 11:
		next.writes, next.at, next.fault.Drop = true, 1+w.random.IntN(2), githubsim.DropAfter
		w.note("  the answer of its write %d is lost", next.at)
	case 12:
		next.writes, next.at, next.dies = true, 1+w.random.IntN(2), true
		next.fault.Done, next.fault.Drop = func() { cancel(errDied) }, githubsim.DropAfter
		w.note("  it dies at its write %d", next.at)
	case 13:
		next.do, next.after = w.fillJournal(m)
		w.note("  its disk has no room for its journal from call %d on", next.at)
	case 14:
		next.after = w.fill(m)
		w.note("  its disk has no room for what git writes")
	case 15:
		base := []choice{{1, "gives it another base", w.retarget}, {1, "takes the last commit off the base", w.rewriteBase}}[w.random.IntN(2)]
		next.do = base.do
		w.note("  a person %s at call %d", base.what, next.at)
	default:
		next.at = 0
	}
	return next
}

// during makes p the current plan, and returns the previous one.
func (w *world) during(p plan) plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.plan
	w.plan = p
	return before
}

// act makes a machine look at the pull request and do what it decides. It reports whether there was anything to
// do and, if not, after which time to look again even if nothing happens; 0 for never.
func (w *world) act(ctx context.Context, m *machine) (acted bool, recheck time.Duration) {
	barred := w.barred()
	pr, action, err := m.agent.Look(ctx, w.Ref)
	if err == nil {
		m.agent.Show(ctx, pr, action)
		switch action.Kind {
		case decide.Wait, decide.Skip, decide.Done:
			w.note("  %s: %s, %s", m, action.Kind, action.Reason)
			return false, action.Recheck
		}
		_, err = m.agent.Act(ctx, pr, action)
		session := action.Kind == decide.Review || action.Kind == decide.Fix || action.Kind == decide.Merge
		// Another machine may have had its turn in between, and may have removed the reason.
		if err == nil && session && barred != "" && w.barred() == barred {
			w.violated("the agents did a %s although %s", action.Kind, barred)
		}
	}
	w.note("  %s: %s %.7s, %s: %v", m, action.Kind, action.SHA, action.Reason, err)
	return true, 0
}

// finish lets the agents work undisturbed, in turn, until none of them has anything left to do. If all of them
// wait, it advances GitHub's clock to the first recheck.
func (w *world) finish() {
	w.note("the agents finish")
	// Webhooks arrive long before a merge queue merges, so the agents see what happened while it paused.
	if w.rules.MergeQueue {
		for _, m := range w.machines {
			w.act(w.Ctx, m)
		}
	}
	w.Sim.SetFaults(githubsim.Faults{})
	const enough = 160
	idle, pause := 0, time.Duration(0) // the machines without anything to do since the last act, and their first recheck
	for turn := range enough {
		if idle == 0 {
			w.ci()
			steps.Must(w.Sim.Settle(w.Ctx))
		}
		acted, recheck := w.act(w.Ctx, w.machines[turn%len(w.machines)])
		if acted {
			// A session takes longer than the second in which GitHub's clock counts. Attempts that fail within the
			// second of the review before them do not count, and would be repeated until it is over.
			w.Sim.Advance(time.Second)
			idle, pause = 0, 0
			continue
		}
		if idle++; recheck > 0 && (pause == 0 || recheck < pause) {
			pause = recheck
		}
		switch {
		case idle < len(w.machines):
			continue
		case pause == 0:
			return
		case pause >= time.Second: // otherwise it is over by the time they look
			w.note("  %s pass", pause.Round(time.Second))
			w.Sim.Advance(pause + time.Second)
		}
		idle, pause = 0, 0
	}
	w.result.Stuck = "the agents find no end"
}
