package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"touchstone/agent/compose"
	"touchstone/verdict/decide"
)

// second is another machine of the reviewer's login.
func (w *world) second() (first, second *machine) {
	first = w.agents[decide.Reviewer]
	second = w.configure(decide.Reviewer, reviewer)
	w.agents[decide.Reviewer] = first
	w.t.Cleanup(second.halt)
	return first, second
}

// TestTwoMachinesOfALoginPayForOneSession lets both machines hear of each pull request at the same time.
func TestTwoMachinesOfALoginPayForOneSession(t *testing.T) {
	t.Parallel()
	const pulls = 4
	// A session that takes its time, with which the script counts them all.
	w := newWorld(t, with(twoDefects(), decide.Reviewer, "slow:100ms"))
	first, second := w.second()
	first.start()
	second.start()
	for i := range pulls {
		ref := w.open(fmt.Sprint("Change ", i), map[string]string{fmt.Sprintf("store/new%d.go", i): "package store\n"}, false)
		w.until("it is reviewed", func() bool { return len(w.reviews(ref)) == 1 })
	}
	first.halt()
	second.halt()
	if n := w.sessions(decide.Reviewer); n != pulls {
		t.Errorf("%d pull requests took %d sessions", pulls, n)
	}
}

// TestASessionOfADeadMachineIsTakenOver lets a claim expire after its machine has died.
func TestASessionOfADeadMachineIsTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(twoDefects(), decide.Reviewer, "hang"))
	first, second := w.second()
	first.start()
	ref := w.openBad(false)
	w.until("the first session runs", func() bool { return w.sessions(decide.Reviewer) == 1 })
	first.halt()
	d, closeAgent, err := compose.New(w.Ctx, second.cfg, decide.Reviewer)
	w.must(err)
	_, action, err := d.Agent.Look(w.Ctx, ref)
	w.must(errors.Join(err, closeAgent()))
	if action.Kind != decide.Wait || action.Recheck <= 0 || action.Recheck > 10*time.Minute {
		t.Errorf("the second does %s, %s, and looks again after %s", action.Kind, action.Reason, action.Recheck)
	}
	w.Advance(11 * time.Minute)
	second.start()
	w.until("the second reviews it", func() bool { return len(w.reviews(ref)) == 1 })
	if n := w.sessions(decide.Reviewer); n != 2 {
		t.Errorf("there are %d sessions, want that of the first and that of the second", n)
	}
}
