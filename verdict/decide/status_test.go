package decide

import (
	"strings"
	"testing"

	"touchstone/verdict"
)

func TestTheStatusTellsWhoseTurnItIs(t *testing.T) {
	round := func(o Opinion, n int) Opinion { o.Record.Round, o.Review = n, int64(n); return o }
	objects := round(says("alice", head, verdict.RequestChanges), 2)
	objects.Record.Ledger = append(objects.Record.Ledger, verdict.Entry{ID: "0badcafe", Status: verdict.Open, Severity: verdict.Critical})
	heldBack := round(says("alice", head, verdict.RequestChanges), 1)
	heldBack.Record.Ledger, heldBack.Record.Holds = nil, []verdict.Hold{{Kind: verdict.QualityBar}}
	for _, tt := range []struct {
		name   string
		start  func() State
		change func(*State)
		want   string // signal and text; "" for none
	}{
		{"a first review", asks, func(s *State) {}, "pending reviewing, round 1"},
		{"a second review", asks, func(s *State) { s.Opinions = []Opinion{round(says("alice", older, verdict.RequestChanges), 1)} },
			"pending reviewing, round 2"},
		{"a draft", asks, func(s *State) { s.Draft = true }, "pending waiting for @octocat: it is a draft"},
		{"changes requested", asks, func(s *State) { s.Opinions = []Opinion{objects} },
			"failure changes requested, round 2: 1 critical, 1 major"},
		{"approved", asks, func(s *State) { s.Opinions = []Opinion{round(says("alice", head, verdict.Approve), 3)} },
			"success approved, round 3"},
		{"approved by one of two", asks, func(s *State) {
			s.Reviewers = []string{"alice", "bob"}
			s.Opinions = []Opinion{round(says("bob", head, verdict.RequestChanges), 1), round(says("alice", head, verdict.Approve), 1)}
		}, "pending approved by alice, round 1; not by all reviewers"},
		{"approved, and a person called", asks, func(s *State) {
			s.NeedsHuman, s.Opinions = true, []Opinion{round(says("alice", head, verdict.Approve), 3)}
		}, "pending waiting for a person"},
		{"approved for another base", asks, func(s *State) {
			s.BaseBranch, s.Opinions = "release", []Opinion{round(says("alice", head, verdict.Approve), 3)}
		}, "pending reviewing, round 4"},
		{"held, and a person called", asks, func(s *State) { s.NeedsHuman, s.CalledAt, s.Opinions = true, noon.Add(1), []Opinion{heldBack} },
			"pending waiting for a person other than @octocat: the quality bar is lowered"},
		{"held, and people asked", asks, func(s *State) {
			s.NeedsHuman, s.CalledAt, s.Opinions, s.Asking = true, noon.Add(1), []Opinion{heldBack}, []string{"Octocat", "walter", "alice", "mona"}
		}, "pending waiting for @walter, @mona: the quality bar is lowered"},
		{"held, and its author's agent looks", ready, func(s *State) { s.Opinions, s.Asking = []Opinion{heldBack}, []string{"walter"} },
			"pending waiting for @walter: only a person may let it pass, and one is being called"},
		{"nobody asked", asks, func(s *State) { s.Requested = false }, ""},
		{"closed", asks, func(s *State) { s.Open = false }, ""},

		{"ready", ready, func(s *State) {}, "success approved and green: merging it"},
		{"not reviewed", ready, func(s *State) { s.Opinions = nil }, "pending waiting for @alice, @bob: this head is not reviewed yet"},
		{"to be fixed", ready, func(s *State) { s.Opinions = []Opinion{objects} }, "pending fixing, round 2: the review requests changes"},
		{"checks running", ready, func(s *State) { s.Checks = ChecksPending }, "pending waiting for CI: checks are running"},
		{"checks stuck", ready, func(s *State) { s.Checks, s.Stuck = ChecksPending, "a workflow could not start: see u" },
			"pending waiting for CI: a workflow could not start: see u"},
		{"merged by hand", ready, func(s *State) { s.Manual = byHandOnly },
			"pending waiting for @octocat: it is approved and green, and waits for its author to merge it: merge.auto is off"},
		{"rounds used up", ready, func(s *State) { s.Opinions = append(rounds(2), says("alice", head, verdict.RequestChanges)) },
			"failure waiting for a person: the review requests changes, and 3 rounds have not been enough"},
		{"a person called", ready, func(s *State) { s.NeedsHuman = true }, "failure waiting for a person"},
		{"a person called for something", ready, func(s *State) { s.NeedsHuman, s.CalledAt, s.CalledFor = true, noon, "settle 2 findings" },
			"failure waiting for a person: settle 2 findings"},
		{"stopped", ready, func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Stop, "mona", 1)} },
			"pending waiting for @mona: mona has stopped the agents here"},
		{"stopped by its author", ready, func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Stop, "octocat", 1)} },
			"pending waiting for a person: octocat has stopped the agents here"},
		{"a person objects", ready, func(s *State) {
			s.Opinions = append(s.Opinions, Opinion{By: "mona", SHA: head, State: "CHANGES_REQUESTED", Person: true, CanPush: true, At: noon})
		}, "pending waiting for @mona: mona still requests changes"},
		{"GitHub computes", ready, func(s *State) { s.Mergeable = MergeableUnknown }, "pending waiting: GitHub is computing whether it can be " +
			"merged"},
		{"another's", ready, func(s *State) { s.Author = "mona" }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.start()
			tt.change(&s)
			got := Next(s).Status
			if text := strings.TrimSpace(string(got.Signal) + " " + got.Text); text != tt.want {
				t.Errorf("%q; want %q", text, tt.want)
			}
		})
	}
}

// TestSuccessIsShownOnlyForAnApprovedHead: a review succeeds only while the reviewer's own word on this head and base is an
// approval and nothing is left for its agent to do, and a fix only while the head is about to be merged.
func TestSuccessIsShownOnlyForAnApprovedHead(t *testing.T) {
	t.Parallel()
	d := throw(t)
	seen := map[Signal]int{}
	for range fewer() {
		s := d.state()
		a := Next(s)
		status := a.Status
		seen[status.Signal]++
		mine := s.Open && s.known() && a.Kind != Skip && (s.Role == Reviewer || s.Role == Author)
		if mine != (status != Status{}) || mine && status.Text == "" {
			t.Fatalf("%s (%s) has the status %+v\nstate: %+v", a.Kind, a.Reason, status, s)
		}
		switch {
		case status.Signal != Success:
		case s.Role == Author && a.Kind != Merge:
			t.Fatalf("a fix succeeds, and what comes is %s (%s)", a.Kind, a.Reason)
		case s.Role == Reviewer:
			i := s.own()
			if i < 0 || a.Kind != Wait || s.Opinions[i].SHA != s.Head || s.Opinions[i].State != "APPROVED" ||
				s.Opinions[i].Record.Verdict != verdict.Approve {
				t.Fatalf("a review succeeds, and what comes is %s (%s)\nstate: %+v", a.Kind, a.Reason, s)
			}
			for _, o := range s.Opinions {
				if s.listed(s.Self) && s.trusts(o.By) && isHere(s, o) && o.State == "CHANGES_REQUESTED" && o.By != s.Self &&
					!strings.EqualFold(o.By, s.Opinions[i].By) && s.stance() != approves {
					t.Fatalf("a review succeeds that %s objects to", o.By)
				}
			}
		}
	}
	for _, signal := range []Signal{"", Pending, Success, Failure} {
		if seen[signal] < 100 {
			t.Errorf("only %d of the states have the signal %q", seen[signal], signal)
		}
	}
}
