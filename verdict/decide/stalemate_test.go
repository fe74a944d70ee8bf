package decide

import (
	"slices"
	"testing"
	"time"

	"touchstone/verdict"
)

// as is the state as the agent of a role and login sees it.
func (s State) as(role Role, self string) State {
	s.Role, s.Self = role, self
	return s
}

// acts reports whether an action changes anything.
func (a Action) acts() bool { return !slices.Contains([]Kind{Wait, Skip, Done}, a.Kind) }

// stalemate says which two sides wait for each other, "" if none do: a reviewer's agent that waits
// for the author's finds it at work, unless people keep that from it, and an author's agent does not
// wait for reviewers of whom all that could act wait for it.
func stalemate(s State) string {
	author := Next(s.as(Author, s.Author))
	var waiting, acting bool
	for _, login := range s.Reviewers {
		a := Next(s.as(Reviewer, login))
		waiting = waiting || a.Kind == Wait && a.Awaits != ""
		acting = acting || a.acts() || a.Recheck > 0 && a.Awaits == ""
	}
	objection := s.stance() == approves && len(s.objections()) > 0
	kept := objection || s.InQueue || s.HoldLabel != "" || s.Draft || s.Fork || s.Shared || s.Unread != "" ||
		author.Recheck > 0 && author.Awaits == ""
	switch {
	case !waiting || acting || author.acts():
		return ""
	case author.Awaits != "":
		return "the author's agent waits for its reviewer: " + author.Reason
	case !kept:
		return "the author's agent waits for something else: " + author.Reason
	}
	return ""
}

func TestNoTwoAgentsWaitForEachOther(t *testing.T) {
	t.Parallel()
	d := throw(t)
	conflicts := 0
	for range fewer() {
		s := d.state()
		s.Author, s.Open = "octocat", true
		s.Mergeable = pick(d, MergeableDirty, s.Mergeable)
		if why := stalemate(s); why != "" {
			t.Fatalf("a reviewer waits for the base to be merged in, and %s\nstate: %+v", why, s)
		}
		if Next(s.as(Reviewer, "alice")).Awaits != "" {
			conflicts++
		}
	}
	if conflicts < 100 {
		t.Errorf("only %d of the states have a reviewer wait: the test proves little", conflicts)
	}
}

// TestAConflictIsResolvedBeforeItsReviewerSpeaks: whatever the author's agent waits for its reviewer
// to say of merging the head, that reviewer says nothing of a head that conflicts with its base.
func TestAConflictIsResolvedBeforeItsReviewerSpeaks(t *testing.T) {
	conflict := func(change func(*State)) func(*State) {
		return func(s *State) {
			s.Opinions, s.Mergeable = []Opinion{says("alice", head, verdict.RequestChanges)}, MergeableDirty
			change(s)
		}
	}
	glass := conflict(func(s *State) { s.Orders = []verdict.Command{ordered(verdict.BreakGlass, "mona", 1)} })
	waived := conflict(func(s *State) {
		s.Opinions[0].Record.Ledger[0].ID, s.Opinions[0].Record.Settled = "0badcafe", true
		s.Orders = []verdict.Command{ordered(verdict.Waive, "mona", 1)}
	})
	approved := conflict(func(s *State) {
		r := s.Opinions[0].Record
		r.Ledger, r.Holds, r.Settled = nil, []verdict.Hold{{Kind: verdict.QualityBar}}, true
		s.Opinions = append(s.Opinions, Opinion{By: "mona", SHA: head, State: "APPROVED", Person: true, CanPush: true, Independent: true,
			At: noon.Add(1)})
	})
	runNext(t, ready, []nextCase{
		{"break-glass", glass, Fix, conflicting},
		{"a finding is waived", waived, Fix, conflicting},
		{"a hold is approved", approved, Fix, conflicting},
		{"a finding is disputed", conflict(func(s *State) {
			s.Opinions[0].Record.Ledger[0].ID, s.Orders = "0badcafe", []verdict.Command{ordered(verdict.Dispute, "mona", 1)}
		}), Fix, conflicting},
		{"its review was dismissed", conflict(func(s *State) { s.Opinions[0].State = dismissed }), Fix, conflicting},
		{"its review was edited, and another is ordered", conflict(func(s *State) {
			s.Opinions[0].Edited, s.Orders = true, []verdict.Command{ordered(verdict.AskReview, "mona", 1)}
		}), Fix, conflicting},
		{"of a fork", conflict(func(s *State) { glass(s); s.Fork = true }), Tell, "left to its author"},
	})
	labelled := func(change func(*State)) func(*State) {
		return func(s *State) { change(s); s.NeedsHuman, s.CalledAt = true, noon.Add(-time.Minute) }
	}
	runNext(t, asks, []nextCase{
		{"break-glass", glass, Wait, "once that is merged in"},
		{"break-glass behind a label", labelled(glass), Release, "it conflicts with main, which is merged into it first"},
		{"a finding is waived behind a label", labelled(waived), Release, "which is merged into it first"},
		{"a hold is approved behind a label", labelled(approved), Release, "which is merged into it first"},
		{"break-glass, and a person put the label on", func(s *State) { labelled(glass)(s); s.CalledAt = time.Time{} }, Wait,
			"waits for a person"},
	})
}
