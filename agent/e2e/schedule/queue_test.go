package schedule

import (
	"strings"
	"testing"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

// The agent removes a pull request that it put into the merge queue when people keep it from merging.
func TestPeopleStopWhatIsInTheQueue(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true})
		s.look(0)
		stage.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
		s.said(s.look(2), "merge")
		s.said(s.look(2), "it is in the merge queue")
		s.order(arena.Person, verdict.Stop)
		s.said(s.look(3), "has stopped the agents here") // it put nothing there
		s.said(s.look(2), "dequeue")
		stage.Sim.SetFaults(githubsim.Faults{})
		s.said(s.look(2), "wait, walter has stopped the agents here")
		if s.Pull().Merged {
			t.Error("merged")
		}
		s.order(arena.Person, verdict.Resume)
		s.ends("merged")
	})
}

// If the response to an enqueue is lost, the machine recognises its own entry, and still removes it.
func TestLostAnswerOfAnEnqueueIsRecognised(t *testing.T) {
	on(t, func(stage *Stage) {
		for at := range moments(t) {
			s := stage.open(t, uint64(at), body("fine()"), githubsim.Protection{MergeQueue: true})
			s.look(0)
			stage.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
			s.during(plan{login: arena.Author, at: at, fault: githubsim.Fault{Drop: githubsim.DropAfter}})
			s.look(2)
			calls := s.during(plan{}).calls
			for s.look(2); !strings.Contains(s.look(2), "it is in the merge queue"); { // it waits to try again
			}
			s.order(arena.Person, verdict.Stop)
			s.said(s.look(3), "has stopped the agents here")
			s.said(s.look(2), "dequeue")
			if t.Failed() || calls < at {
				return
			}
		}
	})
}

// A pull request that the queue gives back repeatedly is left to a person, whichever machine put it there.
func TestTheQueueGivesItBack(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true, RequiredChecks: []string{required}})
		p := s.Pull()
		s.judged[p.Head.SHA] = true
		report := func(state string) {
			s.Status(arena.CI, p.Head.SHA, state, required, "")
		}
		report("success")
		s.look(0)
		for _, author := range []int{2, 3} {
			stage.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
			s.said(s.look(author), "merge ")
			report("failure")
			stage.Sim.SetFaults(githubsim.Faults{})
			s.must(stage.Sim.Settle(s.Ctx))
			report("success")
		}
		s.said(s.look(2), "the merge queue rejected it 2 times")
		s.order(arena.Person, verdict.Resume)
		s.ends("merged")
	})
}

// A pull request that the agent itself removed goes back to the queue without an order when nothing keeps it
// from merging any more.
func TestAHoldInTheQueueIsLifted(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true})
		s.look(0)
		stage.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
		s.look(2)
		s.Label(arena.Person, "touchstone-hold")
		s.said(s.look(2), "dequeue")
		s.Unlabel(arena.Person, "touchstone-hold")
		s.said(s.look(2), "merge ")
		s.ends("merged")
	})
}

// A pull request that a person removed from the queue stays out until people say otherwise, even if the person
// uses the agent's login.
func TestPeopleTakeItOutOfTheQueue(t *testing.T) {
	for name, by := range map[string]int{arena.Judge: 0, arena.Author: 2} {
		t.Run(name, func(t *testing.T) {
			on(t, func(stage *Stage) {
				s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true})
				s.look(0)
				stage.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
				s.look(2)
				pr, err := s.machines[by].agent.Read.PullRequest(s.Ctx, s.Ref)
				s.must(err)
				s.must(s.machines[by].agent.Merger.Act.Dequeue(s.Ctx, pr.ID))
				stage.Sim.SetFaults(githubsim.Faults{})
				s.said(s.look(2), "tell ")
				s.said(s.look(2), "waits for its author to merge it: "+name+" took it out of the merge queue")
				s.order(arena.Person, verdict.Resume)
				s.ends("merged")
			})
		})
	}
}

// A required check that has not begun to report is not listed, and the queue refuses a pull request without it.
// Nobody is called immediately for that.
func TestQueueIsAskedAgainWhileAChecksReportIsMissing(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{MergeQueue: true, RequiredChecks: []string{required}})
		p := s.Pull()
		report := func(check string) {
			s.Status(arena.CI, p.Head.SHA, "success", check, "")
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
