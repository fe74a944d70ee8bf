package decide

import (
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

const (
	head  = "4f1c0de"
	older = "0ddba11"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// says is a review of a head by the product, as GitHub shows it.
func says(by, sha string, v verdict.Verdict) Opinion {
	o := Opinion{By: by, SHA: sha, State: "APPROVED", Record: &verdict.Record{Verdict: v, Head: sha, BaseBranch: "main"}, At: noon}
	if v == verdict.RequestChanges {
		o.State, o.Record.Ledger = "CHANGES_REQUESTED", verdict.Ledger{{ID: "facade00", Status: verdict.Open, Severity: verdict.Major}}
	}
	return o
}

// inRound is alice's review of the head for a base, in one of her rounds.
func inRound(n int, base string, v verdict.Verdict) Opinion {
	o := says("alice", head, v)
	o.Record.Round, o.Record.BaseBranch, o.Record.Engine = n, base, "claude"
	return o
}

// vague is a review that requests changes and names no finding.
func vague() Opinion {
	o := says("alice", head, verdict.RequestChanges)
	o.Record.Ledger = nil
	return o
}

// asks is a pull request that alice's reviewer has to review now.
func asks() State {
	return State{Role: Reviewer, Self: "alice", Open: true, Author: "octocat", Head: head, BaseBranch: "main", Requested: true,
		Mergeable: MergeableClean, Checks: ChecksGreen, Reviewers: []string{"alice"}, MaxRounds: 3, MaxAttempts: 2}
}

// ready is a pull request that octocat's agent has to merge now.
func ready() State {
	return State{Role: Author, Self: "octocat", Open: true, Author: "octocat", Head: head, BaseBranch: "main", Requested: true,
		Mergeable: MergeableClean, Checks: ChecksGreen,
		Opinions: []Opinion{says("alice", head, verdict.Approve)}, Reviewers: []string{"alice", "bob"},
		RequireChecks: true, MaxRounds: 3, MaxAttempts: 2}
}

// byHandOnly is a setting by which its author merges.
var byHandOnly = Left{Why: "merge.auto is off", Topic: "auto"}

type nextCase struct {
	name   string
	change func(*State)
	want   Kind
	reason string // a part of it
}

func runNext(t *testing.T, start func() State, tests []nextCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start()
			tt.change(&s)
			got := Next(s)
			if got.Kind != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("got %s because %q; want %s because %q", got.Kind, got.Reason, tt.want, tt.reason)
			}
			if got.SHA != s.Head {
				t.Errorf("the action is about %q instead of the head", got.SHA)
			}
		})
	}
}

func rounds(n int) []Opinion {
	var all []Opinion
	for i := range n {
		all = append(all, says("alice", "older"+string(rune('a'+i)), verdict.RequestChanges))
	}
	return all
}

func TestReviewerReviewsWhatItIsAskedFor(t *testing.T) {
	runNext(t, asks, []nextCase{
		{"asked", func(s *State) {}, Review, "not reviewed yet"},
		{"of a fork", func(s *State) { s.Fork = true }, Review, ""},
		{"held back from merging", func(s *State) { s.HoldLabel = "stay" }, Review, ""},
		{"CI red", func(s *State) { s.Checks = ChecksFailed }, Review, ""},
		{"closed", func(s *State) { s.Open = false }, Done, "closed"},
		{"no role", func(s *State) { s.Role = "" }, Wait, "no role"},
		{"no login", func(s *State) { s.Self = "" }, Wait, "incomplete"},
		{"no head", func(s *State) { s.Head = "" }, Wait, "incomplete"},
		{"no author", func(s *State) { s.Author = "" }, Wait, "incomplete"},
		{"its own", func(s *State) { s.Author = "Alice" }, Skip, "their own"},
		{"not asked", func(s *State) { s.Requested = false }, Skip, "nobody asked alice"},
		{"draft", func(s *State) { s.Draft = true }, Wait, "draft"},
		{"needs a person", func(s *State) { s.NeedsHuman = true }, Wait, "person"},
		{"reviewed already", func(s *State) { s.Opinions = []Opinion{says("ALICE", head, verdict.Approve)} }, Wait, "is reviewed"},
		{"reviewed, then dismissed", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve)}
			s.Opinions[0].State = "DISMISSED"
		}, Wait, "was dismissed or edited"},
		{"reviewed, dismissed, asked again", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve)}
			s.Opinions[0].State, s.Asked = "DISMISSED", true
		}, Review, ""},
		{"reviewed, edited, asked again", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve)}
			s.Opinions[0].Edited, s.Asked = true, true
		}, Review, ""},
		{"reviewed, asked again", func(s *State) { s.Opinions, s.Asked = []Opinion{says("alice", head, verdict.Approve)}, true }, Wait,
			"is reviewed"},
		{"reviewed against another base", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve)}
			s.BaseBranch = "release"
		}, Review, ""},
		{"reviewed against this base, then against another", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve), says("alice", head, verdict.RequestChanges)}
			s.Opinions[1].Record.BaseBranch = "release"
		}, Review, ""},
		{"then by a slower machine, which has not seen that", func(s *State) {
			s.Opinions = []Opinion{inRound(1, "release", verdict.RequestChanges), inRound(1, "main", verdict.Approve)}
		}, Review, ""},
		{"then once more", func(s *State) {
			s.Opinions = []Opinion{inRound(1, "release", verdict.RequestChanges), inRound(2, "main", verdict.Approve)}
		}, Wait, "is reviewed"},
		{"pointed from one base to another and back, for ever", func(s *State) {
			s.Opinions = []Opinion{inRound(1, "main", verdict.Approve), inRound(2, "release", verdict.Approve), inRound(3, "main", verdict.Approve)}
			s.BaseBranch = "release"
		}, Escalate, "3 rounds have not been enough"},
		{"twice for each of two bases, as people ordered", func(s *State) {
			s.Opinions = []Opinion{inRound(1, "main", verdict.Approve), inRound(2, "main", verdict.Approve), inRound(3, "release", verdict.Approve)}
		}, Review, ""},
		{"then let pass by break-glass", func(s *State) {
			s.CalledAt = noon
			s.Orders = []verdict.Command{{ID: 1, Verb: verdict.BreakGlass, By: "mona", At: noon.Add(time.Minute)}}
			passed := inRound(1, "main", verdict.Approve)
			passed.Record.Engine, passed.Record.Lifted = "", &verdict.Word{By: "mona", At: noon.Add(time.Minute), BrokeGlass: true}
			s.Opinions = []Opinion{inRound(1, "release", verdict.RequestChanges), passed}
		}, Wait, "is reviewed"},
		{"its base was rewritten", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve)}
			s.Opinions[0].Rebased = true
		}, Review, ""},
		{"merging it changes something else by now", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.Approve)}
			s.Opinions[0].Outdated = true
		}, Review, ""},
		{"a conflict", func(s *State) { s.Mergeable = MergeableDirty }, Wait, "is reviewed once that is merged in"},
		{"a conflict that nobody works on", func(s *State) {
			s.Mergeable, s.AwaitedSince = MergeableDirty, s.Now.Add(-signPatience)
		}, Tell, "is reviewed once that is merged in"},
		{"a conflict that its author's agent works on", func(s *State) {
			s.Mergeable, s.AwaitedSince, s.Fixing = MergeableDirty, s.Now.Add(-signPatience), s.Now.Add(time.Second)
		}, Wait, "is reviewed once that is merged in"},
		{"a conflict that its author's agent worked on", func(s *State) {
			s.Mergeable, s.AwaitedSince, s.Fixing = MergeableDirty, s.Now.Add(-signPatience), s.Now
		}, Tell, "is reviewed once that is merged in"},
		{"a conflict that its author was told of", func(s *State) {
			s.Mergeable, s.AwaitedSince, s.Notices = MergeableDirty, s.Now.Add(-signPatience), []Notice{{Topic: "conflict"}}
		}, Wait, "is reviewed once that is merged in"},
		{"older head reviewed", func(s *State) { s.Opinions = []Opinion{says("alice", older, verdict.Approve)} }, Review, ""},
		{"reviewed by another", func(s *State) { s.Opinions = []Opinion{says("bob", head, verdict.Approve)} }, Review, ""},
		{"reviewed by hand under this login", func(s *State) {
			s.Opinions = []Opinion{{By: "alice", SHA: head, State: "APPROVED"}}
		}, Review, ""},
		{"last round left", func(s *State) { s.Opinions = rounds(2) }, Review, ""},
		{"rounds used up", func(s *State) { s.Opinions = rounds(3) }, Escalate, "3 rounds"},
		{"rounds without times", func(s *State) {
			s.Opinions = rounds(3)
			for i := range s.Opinions {
				s.Opinions[i].At = time.Time{}
			}
		}, Escalate, "3 rounds"},
		{"an unclear order", func(s *State) { s.Unclear = []verdict.Unclear{{ID: 7, By: "mona"}} }, Reply, "mona"},
		{"an unclear order while stopped", func(s *State) {
			s.Unclear, s.Orders = []verdict.Unclear{{ID: 7, By: "mona"}}, []verdict.Command{{ID: 1, Verb: verdict.Stop, By: "mona"}}
		}, Reply, ""},
		{"an unclear order that cannot be answered", func(s *State) {
			s.Unclear, s.Failed, s.Attempts = []verdict.Unclear{{ID: 7}}, Reply, 2
			s.MaxAttempts = 2
		}, Escalate, "2 attempts"},
		{"an unclear order, and nobody asked", func(s *State) { s.Unclear, s.Requested = []verdict.Unclear{{ID: 7}}, false }, Skip, ""},
		{"a day's budget spent and the day over", func(s *State) { s.NeedsHuman, s.Rested = true, true }, Release, "is over"},
		{"what failed would fail again", func(s *State) { s.Failed, s.Attempts, s.Permanent = Review, 1, true }, Escalate,
			"trying again would fail in the same way"},
		{"what failed would fail again, but is not next", func(s *State) { s.Failed, s.Attempts, s.Permanent = Lift, 1, true }, Review, ""},
		{"one head twice is one round", func(s *State) { s.Opinions = append(rounds(2), rounds(2)...) }, Review, ""},
		{"rounds without bound", func(s *State) { s.Opinions = rounds(3); s.MaxRounds = 0 }, Review, ""},
		{"a person resumed", func(s *State) { s.Opinions = rounds(3); s.EscalatedAt = noon }, Review, ""},
		{"rounds used up since", func(s *State) { s.Opinions = rounds(3); s.EscalatedAt = noon.Add(-1) }, Escalate, "3 rounds"},
		{"other people's rounds", func(s *State) { s.Opinions = rounds(3); s.Self = "bob" }, Review, ""},
		{"one attempt failed", func(s *State) { s.Attempts = 1 }, Review, ""},
		{"attempts used up", func(s *State) { s.Attempts = 2 }, Escalate, "2 attempts"},
		{"attempts without bound", func(s *State) { s.Attempts = 99; s.MaxAttempts = 0 }, Review, ""},
		{"attempt has to wait", func(s *State) { s.Attempts, s.Failed, s.RetryIn = 1, Review, time.Minute }, Wait, "next one is delayed"},
	})
}

// TestNextAsksToLookAgain checks that the agent looks again by itself: GitHub sends no event for what it
// computes in the background, and none when one of our waits ends.
func TestNextAsksToLookAgain(t *testing.T) {
	s := ready()
	s.Mergeable = MergeableUnknown
	for waited, want := range map[time.Duration]time.Duration{0: recheck, 5 * time.Minute: 30 * time.Second, time.Hour: seldom} {
		s.UnknownSince, s.Now = noon, noon.Add(waited)
		if a := Next(s); a.Recheck != want || !a.Computing {
			t.Errorf("while GitHub has computed for %s: look again after %s, want %s", waited, a.Recheck, want)
		}
	}
	s = asks()
	s.Failed, s.RetryIn = Review, 90*time.Second
	if a := Next(s); a.Recheck != s.RetryIn {
		t.Errorf("after a failed attempt: look again after %s, want %s", a.Recheck, s.RetryIn)
	}
}
