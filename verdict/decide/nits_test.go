package decide

import (
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

// proposing is a pull request that is ready, and whose approval proposes an edit for each of two
// nits.
func proposing() State {
	s := ready()
	s.Nits, s.Opinions[0].Record.Settled = true, true
	for _, id := range []string{"0badcafe", "0ddba115"} {
		s.Opinions[0].Record.Ledger = append(s.Opinions[0].Record.Ledger, verdict.Entry{ID: id, Severity: verdict.Nit, Status: verdict.Open})
		s.Opinions[0].Record.Edits = append(s.Opinions[0].Record.Edits, verdict.Edit{Finding: id, Path: id + ".go", First: 1, Last: 1})
	}
	return s
}

func TestWhatNitsProposeIsAppliedBeforeTheMerge(t *testing.T) {
	runNext(t, proposing, []nextCase{
		{"approved and green", func(*State) {}, Apply, "the suggestions of 2 nits can be applied before it is merged"},
		{"one of them is waived", func(s *State) { s.Opinions[0].Record.Ledger[0].Status = verdict.Waived }, Apply,
			"the suggestion of a nit can"},
		{"one of them is disputed", func(s *State) {
			s.Orders = []verdict.Command{{Verb: verdict.Dispute, Finding: "0badcafe", ID: 7, By: "mona", At: noon}}
		}, Apply, "the suggestion of a nit can"},
		{"behind its base", func(s *State) { s.Mergeable = MergeableBehind }, Apply, ""},
		{"the base wants conversations resolved", func(s *State) { s.Mergeable = MergeableBlocked }, Apply, ""},
		{"a comment of a person's", also(Opinion{By: "mona", SHA: head, State: "COMMENTED", Person: true, At: noon}), Apply, ""},
		{"an approval of an earlier head", also(Opinion{By: "mona", SHA: older, State: "APPROVED", Person: true, At: noon}), Apply, ""},
		{"told of an earlier head", func(s *State) { s.Notices = []Notice{{Unapplied, older}} }, Apply, ""},

		{"the setting is off", func(s *State) { s.Nits = false }, Merge, ""},
		{"no nit has one", func(s *State) { s.Opinions[0].Record.Edits = nil }, Merge, ""},
		{"it was tried", func(s *State) { s.NitsTried = true }, Merge, ""},
		{"another machine tried", func(s *State) { s.Notices = []Notice{{Unapplied, head}} }, Merge, ""},
		{"something failed on this head", func(s *State) { s.Attempts, s.Failed = 1, Apply }, Merge, ""},
		{"somebody talks of it", func(s *State) { s.Discussed = []string{"0ddba115"} }, Merge, ""},
		{"somebody talks of something else", func(s *State) { s.Discussed = []string{"0ddba116"} }, Apply, ""},
		{"a person approves this commit", also(byPerson("mona", "APPROVED")), Merge, ""},
		{"on a person's word", func(s *State) {
			s.Opinions[0].Record.Lifted = &verdict.Word{By: "mona", At: noon, BrokeGlass: true}
			s.Orders = []verdict.Command{{Verb: verdict.BreakGlass, ID: 7, By: "mona", At: noon}}
		}, Merge, ""},
		{"two reviewers approve", also(says("bob", head, verdict.Approve)), Merge, ""},
		{"of a fork", func(s *State) { s.Fork = true }, Merge, ""},
		{"the branch is another's too", func(s *State) { s.SameBranch = "#7" }, Merge, ""},
		{"its author merges it", func(s *State) { s.Manual = byHandOnly }, Tell, "merge.auto is off"},

		{"checks are running", func(s *State) { s.Checks = ChecksPending }, Wait, "checks are running"},
		{"a check failed", func(s *State) { s.Checks = ChecksFailed }, Fix, "a check failed"},
		{"GitHub computes", func(s *State) { s.Mergeable = MergeableUnknown }, Wait, "computing"},
		{"it conflicts", func(s *State) { s.Mergeable = MergeableDirty }, Fix, "conflicts"},
		{"an order that nobody can follow", func(s *State) { s.Unclear = []verdict.Unclear{{ID: 1, By: "mona"}} }, Wait, "an order that cannot " +
			"be followed"},
		{"a person objects", also(byPerson("mona", "CHANGES_REQUESTED")), Wait, "requests changes"},
		{"a person stopped it", func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Stop, "mona", 1)} }, Wait, "stopped"},
		{"held by a label", func(s *State) { s.HoldLabel = "stay" }, Wait, "label"},
		{"put back to this head", func(s *State) { s.Forced = Replacement{At: noon.Add(time.Minute), SHA: head} }, Merge, ""},
		{"put back to an older commit, then pushed again", func(s *State) {
			s.Forced = Replacement{At: noon.Add(time.Minute), SHA: older}
		}, Merge, ""},
		{"force-pushed before the review", func(s *State) { s.Forced = Replacement{At: noon.Add(-time.Minute), SHA: head} }, Apply, ""},
		{"not read whole", func(s *State) { s.Unread = "it has more than 1,000 comments" }, Escalate, "1,000 comments"},
		{"the approval is for another base", func(s *State) { s.Opinions[0].Outdated = true }, Wait, "not reviewed yet"},
		{"another's", func(s *State) { s.Author = "mona" }, Skip, ""},
		{"the reviewer's agent", func(s *State) { s.Role, s.Self = Reviewer, "alice" }, Wait, "this head is reviewed"},
	})
}

// byPerson is a person's review of the head.
func byPerson(login, state string) Opinion {
	o := byHand(login, state)
	o.Person, o.At = true, noon.Add(time.Hour)
	return o
}

// TestNitsAreSaidToBeApplied checks that the list of conditions and the status line say that nits will be
// applied.
func TestNitsAreSaidToBeApplied(t *testing.T) {
	s := proposing()
	a := Next(s)
	if len(a.Record.Edits) != 2 || a.Status != (Status{Signal: Pending, Text: "applying 2 suggestions of the review"}) {
		t.Errorf("%+v, with the status %+v", a.Record.Edits, a.Status)
	}
	c := first(Conditions(s))
	if c.Name != "nits applied" || c.Turn != verdict.TurnAuthor || !strings.Contains(c.Reason, "can be applied before it is merged") {
		t.Errorf("the first unmet condition is %+v", c)
	}
	s.Nits = false
	for _, c := range Conditions(s) {
		if c.Name == "nits applied" && c.State != NotApplicable {
			t.Errorf("with the setting off it is %+v", c)
		}
	}
	s = ready()
	s.Nits, s.Opinions[0].Record.Settled = true, true
	for _, c := range Conditions(s) {
		if c.Name == "nits applied" && c.State != Met {
			t.Errorf("without any it is %+v", c)
		}
	}
}
