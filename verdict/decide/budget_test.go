package decide

import (
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

func TestBudgetsEndInACall(t *testing.T) {
	afresh := []verdict.Command{{ID: 1, Verb: verdict.Resume, By: "mona", At: noon.Add(90 * time.Minute)}}
	for name, tt := range map[string]struct {
		change   func(*State)
		why      string // a part of the reason; empty where a session may begin
		left     verdict.Allowance
		tomorrow bool
	}{
		"no bounds": {func(*State) {}, "", verdict.Allowance{}, false},
		"a round's": {func(s *State) { s.Budgets.Round = verdict.Allowance{USD: 3, Time: time.Hour} }, "",
			verdict.Allowance{USD: 3, Time: time.Hour}, false},
		"what reviews left": {func(s *State) { s.Budgets.PullRequest = verdict.Allowance{USD: 5, Time: time.Hour} }, "",
			verdict.Allowance{USD: 2, Time: 39 * time.Minute}, false},
		"the least counts": {func(s *State) {
			s.Budgets = Budgets{Round: verdict.Allowance{USD: 1, Time: time.Minute}, PullRequest: verdict.Allowance{USD: 5, Time: time.Hour}}
		}, "", verdict.Allowance{USD: 1, Time: time.Minute}, false},
		"what came to nothing": {func(s *State) { s.Budgets.PullRequest.USD, s.Wasted.USD = 5, 1 }, "", verdict.Allowance{USD: 1}, false},
		"a pull request's": {func(s *State) { s.Budgets.PullRequest.USD = 3 },
			"$3.00 of the $3.00 that this pull request may cost are spent", verdict.Allowance{}, false},
		"hardly anything left": {func(s *State) { s.Budgets.PullRequest.USD = 3.04 }, "$3.00 of the $3.04", verdict.Allowance{}, false},
		"its time": {func(s *State) { s.Budgets.PullRequest.Time = 22 * time.Minute }, "21m0s of the 22m0s that sessions may take are used up " +
			"on this pull request",
			verdict.Allowance{}, false},
		"a day's": {func(s *State) { s.Budgets.Day, s.Today = 9, 9.5 }, "$9.50 of the $9.00 that all pull requests",
			verdict.Allowance{}, true},
		"a day's, with a rest": {func(s *State) { s.Budgets.Day, s.Today = 9, 8 }, "", verdict.Allowance{USD: 1}, false},
		"a day's, shared":      {func(s *State) { s.Budgets.Day, s.Today, s.Promised = 9, 5, 1 }, "", verdict.Allowance{USD: 3}, false},
		"a tiny one":           {func(s *State) { s.Budgets.Round.USD = 0.01 }, "", verdict.Allowance{USD: 0.01}, false},
		"a person resumed":     {func(s *State) { s.Budgets.PullRequest.USD, s.Orders = 3, afresh }, "", verdict.Allowance{USD: 1}, false},
		"a stranger's record": {func(s *State) { s.Budgets.PullRequest.USD = 4; s.Opinions[0].By = "mallory" }, "", verdict.Allowance{USD: 2},
			false},
		"a record that repays": {func(s *State) { s.Budgets.PullRequest.USD = 5; s.Opinions[0].Record.CostUSD = -100 }, "",
			verdict.Allowance{USD: 3}, false},
		"commits are not read": {func(s *State) { s.Budgets.PullRequest.USD, s.Commits = 5, nil }, "", verdict.Allowance{USD: 3}, false},
		"a fix that says so": {func(s *State) {
			s.retrailed(1, func(r *verdict.Repair) { r.Cost.USD = 4 })
			s.Budgets.PullRequest.USD = 6
		}, "$6.00 of the $6.00", verdict.Allowance{}, false},
		"but first the attempt": {func(s *State) { s.Budgets.PullRequest.USD, s.Attempts, s.Failed = 3, 2, Fix }, "2 attempts",
			verdict.Allowance{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			// Two reviews of a dollar and ten minutes, and a fix of one and of one minute.
			s := looping(1, stubborn)
			for i := range s.Opinions {
				s.Opinions[i].Record.CostUSD, s.Opinions[i].Record.Duration = 1, 10*time.Minute
			}
			s.retrailed(1, func(r *verdict.Repair) { r.Cost = verdict.Cost{USD: 1, Time: time.Minute} })
			s.Commits[0].At = noon.Add(100 * time.Minute)
			s.Opinions[1].At = s.Commits[0].At
			tt.change(&s)
			got := Next(s)
			if tt.why == "" && (got.Kind != Fix || got.Allowance != tt.left) {
				t.Errorf("got %s with %+v because %q, want %+v", got.Kind, got.Allowance, got.Reason, tt.left)
			}
			if tt.why != "" && (got.Kind != Escalate || !strings.Contains(got.Reason, tt.why) || got.Tomorrow != tt.tomorrow) {
				t.Errorf("got %s because %q, until tomorrow %v", got.Kind, got.Reason, got.Tomorrow)
			}
		})
	}
}

// A merge takes no model, so no budget keeps what is approved from being merged.
func TestMergingCostsNothing(t *testing.T) {
	s := ready()
	s.Budgets, s.Today, s.Wasted = Budgets{Day: 1, PullRequest: verdict.Allowance{USD: 1}}, 5, verdict.Cost{USD: 5}
	if got := Next(s); got.Kind != Merge {
		t.Errorf("got %s because %q", got.Kind, got.Reason)
	}
	if s.Checks = ChecksFailed; Next(s).Kind != Escalate {
		t.Errorf("got %s because %q", Next(s).Kind, Next(s).Reason)
	}
}

// Bringing an approved head up to date with its base, and carrying the approval over that,
// take no model: neither what was spent nor how often the base moved keeps them from it.
func TestFollowingTheBaseIsNoRound(t *testing.T) {
	carried := func(n int) (all []Opinion) {
		for _, sha := range []string{"a", "b", "c", "d"}[:n] {
			all = append(all, says("alice", sha, verdict.Approve))
		}
		return all
	}
	behind := func(s *State) {
		s.Mergeable, s.Opinions = MergeableBehind, append(carried(4), says("alice", head, verdict.Approve))
	}
	rerun := func(s *State) { s.Checks, s.BaseFailed = ChecksFailed, "ci" }
	fails := func(s *State) { s.BaseFails, s.Now = "ci", noon.Add(time.Hour) }
	pushed := func(s *State) { *s = asks(); s.Opinions = carried(4) }
	spent := func(s *State) { s.Budgets.Day, s.Today = 1, 1 }
	for name, tt := range map[string]struct {
		change  []func(*State)
		want    Kind
		noModel bool
	}{
		"the base moved often":    {[]func(*State){behind}, Fix, false},
		"nothing is left":         {[]func(*State){behind, spent}, Fix, true},
		"all rounds are done":     {[]func(*State){behind, func(s *State) { s.Opinions = append(rounds(3), s.Opinions...) }}, Fix, true},
		"a fix took back another": {[]func(*State){behind, undone}, Fix, true},
		"it was tried":            {[]func(*State){behind, spent, func(s *State) { s.Failed, s.Attempts = Fix, 1 }}, Escalate, false},
		"a check failed":          {[]func(*State){behind, spent, func(s *State) { s.Checks = ChecksFailed }}, Escalate, false},
		"it conflicts":            {[]func(*State){behind, spent, func(s *State) { s.Mergeable = MergeableDirty }}, Escalate, false},

		"a check failed on an older base": {[]func(*State){rerun}, Fix, true},
		"and a model is needed":           {[]func(*State){rerun, func(s *State) { s.Failed, s.Attempts = Fix, 1 }}, Fix, false},
		"and it conflicts":                {[]func(*State){rerun, func(s *State) { s.Mergeable = MergeableDirty }}, Fix, false},
		"and it comes from a fork":        {[]func(*State){rerun, func(s *State) { s.Fork = true }}, Tell, false},
		"the base fails as well":          {[]func(*State){rerun, fails}, Wait, false},
		"the base fails for a day":        {[]func(*State){rerun, fails, func(s *State) { s.Now = noon.Add(25 * time.Hour) }}, Escalate, false},

		"its reviewer approved often":   {[]func(*State){pushed}, Review, false},
		"its reviewer has nothing left": {[]func(*State){pushed, spent}, Review, true},
		"its reviewer tried": {[]func(*State){pushed, spent, func(s *State) { s.Failed, s.Attempts = Review, 1 }}, Escalate,
			false},
		"its reviewer has objected": {[]func(*State){pushed, spent,
			func(s *State) { s.Opinions = append(s.Opinions, says("alice", older, verdict.RequestChanges)) }}, Escalate, false},
		"its reviewer's approval was taken": {[]func(*State){pushed, spent, func(s *State) { s.Opinions[3].State = dismissed }}, Escalate,
			false},
		"its reviewer let it pass for someone": {[]func(*State){pushed, spent,
			func(s *State) { s.Opinions[3].Record.Lifted = &verdict.Word{By: "mona"} }}, Escalate, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready()
			for _, change := range tt.change {
				change(&s)
			}
			if got := Next(s); got.Kind != tt.want || got.Allowance.NoModel != tt.noModel {
				t.Errorf("got %s without a model: %v, because %q", got.Kind, got.Allowance.NoModel, got.Reason)
			}
		})
	}
}

// undone has the second of two fixes take back the first.
func undone(s *State) {
	for _, r := range []verdict.Repair{{Reviewed: "a", Change: "change", Undoes: "undo"}, {Reviewed: "b", Change: "undo", Undoes: "change"}} {
		s.Commits = append(s.Commits, verdict.Commit{SHA: "after " + r.Reviewed, Message: "Apply review\n\n" + r.Trailers()})
	}
}

// TestSessionsUnderWayShareTheDay checks that an agent waits for budget that is promised to other sessions,
// since they may not use all of it.
func TestSessionsUnderWayShareTheDay(t *testing.T) {
	s := looping(1, stubborn)
	s.Budgets.Day, s.Today, s.Promised = 9, 5, 3.99
	if got := Next(s); got.Kind != Wait || got.Recheck == 0 || !strings.Contains(got.Reason, "reserved") {
		t.Errorf("got %s because %q", got.Kind, got.Reason)
	}
	s.Promised = 3
	if got := Next(s); got.Kind != Fix || got.Allowance.USD != 1 || !got.Daily {
		t.Errorf("got %+v", got)
	}
}
