package worker

import (
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/verdict/decide"
)

// TestChecksThatFailOnTheBaseAreWaitedFor checks that a check that also fails on the base starts no session
// on each pull request: the agent waits for it, and merges the base once it has moved on.
func TestChecksThatFailOnTheBaseAreWaitedFor(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	a := agentOf(g, decide.Author, loopback.Author)
	reports(g, pr.Base.SHA, "build", "failure")
	reports(g, pr.Base.SHA, "lint", "failure")
	reports(g, pr.Head.SHA, "build", "failure")
	if action := decided(t, g, a, pr); action.Kind != decide.Wait ||
		!strings.Contains(action.Reason, `the check "build" fails here as it does on main`) || action.Recheck <= 0 {
		t.Errorf("while the base fails it comes to %+v", action)
	}
	reports(g, pr.Head.SHA, "vet", "failure")
	if action := decided(t, g, a, pr); action.Kind != decide.Fix || action.Allowance.NoModel {
		t.Errorf("beside a failure of its own it comes to %+v", action)
	}
	reports(g, pr.Head.SHA, "vet", "success")
	g.Commit("main", "Mend the build", map[string]string{"README.md": "two\n"})
	action := decided(t, g, a, pr)
	if action.Kind != decide.Fix || !action.Allowance.NoModel || !strings.Contains(action.Reason, "main, which has changed since") {
		t.Fatalf("once the base has moved on it comes to %+v", action)
	}
	a = authorOf(t, g, unneeded(t))
	step, err := a.Act(t.Context(), g.Read(loopback.Author, pr.Ref), action)
	if err != nil || g.Read(loopback.Author, pr.Ref).Head.SHA != step.Head {
		t.Errorf("merging the base in ends in %v", err)
	}
	if paid := entries(a, string(decide.Fix)); len(paid) != 1 || paid[0].Paid {
		t.Errorf("the journal has %+v", paid)
	}
}
