package schedule

import (
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

// What the agent put into the merge queue, it takes out when people keep it from merging.
func TestPeopleStopWhatIsInTheQueue(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true})
		s.look(0)
		stage.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
		s.said(s.look(2), "merge")
		s.said(s.look(2), "it is in the merge queue")
		s.must(s.order(s.ctx, arena.Person, verdict.Stop))
		s.said(s.look(3), "has stopped the agents here") // it put nothing there
		s.said(s.look(2), "dequeue")
		stage.Sim.SetFaults(githubsim.Faults{})
		s.said(s.look(2), "wait, walter has stopped the agents here")
		if p, err := s.pull(s.ctx); err != nil || p.Merged {
			t.Errorf("merged: %t, %v", p.Merged, err)
		}
		s.must(s.order(s.ctx, arena.Person, verdict.Resume))
		s.ends("merged")
	})
}

// A required check that has not begun to report is not listed, and the queue refuses
// what lacks it. Nobody is called for that at once.
func TestTheQueueIsAskedAgain(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true, RequiredChecks: []string{required}})
		p, err := s.pull(s.ctx)
		s.must(err)
		report := func(check string) {
			s.must(s.Call(s.ctx, arena.CI, http.MethodPost, s.ref.Repo, "statuses/"+p.Head.SHA, map[string]any{"state": "success", "context": check}, nil))
		}
		report("lint")
		s.look(0)
		for refused := 0; refused < 4; { // more often than an act may fail
			if did := s.look(2); strings.Contains(did, "merge "+p.Head.SHA[:7]) {
				refused++
			} else if !strings.Contains(did, "wait, ") {
				t.Fatalf("it did %q", did)
			}
		}
		report(required)
		s.judged[p.Head.SHA] = true
		s.ends("merged")
	})
}
