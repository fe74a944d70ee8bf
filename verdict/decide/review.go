package decide

import (
	"fmt"

	"touchstone/verdict"
)

// reviewerRules are the conditions that a reviewer's agent checks.
var reviewerRules = append(general[:len(general):len(general)],
	rule{"another's", "it is not its reviewer's own", func(s State) outcome {
		return metIf(!verdict.SameLogin(s.Author, s.Self), verdict.TurnNobody, func() Action {
			return s.act(Skip, "GitHub lets nobody review their own pull request")
		})
	}},
	rule{"asked", "its review is asked for", func(s State) outcome {
		_, again := s.askedAgain()
		return metIf(s.Requested || again, verdict.TurnAuthor, func() Action { return s.act(Skip, "nobody asked "+s.Self+" to review it") })
	}},
	rule{"orders understood", "all orders can be followed", func(s State) outcome {
		return metIf(len(s.Unclear) == 0 || s.Failed == Reply && s.Attempts >= max(1, s.MaxAttempts), verdict.TurnReviewer, func() Action {
			a := s.retry(Reply, "nobody can follow what "+s.Unclear[0].By+" orders")
			a.Unclear = s.Unclear[0]
			return a
		})
	}},
	notDraft,
	notStopped,
	rule{"words heeded", "no person's order or approval waits to be carried out", func(s State) outcome {
		i := s.own()
		word, lifted := s.lifted(i)
		return metIf(!lifted, verdict.TurnReviewer, func() Action {
			a := s.retry(Lift, "a person lets it pass")
			a.Record = s.approval(i, word)
			return a
		})
	}},
	noPersonCalled,
	rule{"no review ordered", "nobody has ordered another review", func(s State) outcome {
		ordered, again := s.askedAgain()
		return metIf(!again, verdict.TurnReviewer, func() Action { return s.review(ordered.By + " asks for a review") })
	}},
	rule{"not withdrawn", "its review was not withdrawn", func(s State) outcome {
		i := s.own()
		return metIf(i < 0 || s.sound(i) || s.Asked, verdict.TurnPerson, func() Action {
			return s.act(Wait, "its review was dismissed or edited; request it again for another one")
		})
	}},
	rule{reviewed, "this head is reviewed", func(s State) outcome {
		return metIf(s.sound(s.own()), verdict.TurnReviewer, func() Action { return s.review("this head is not reviewed yet") })
	}},
	rule{"waivers hold", "no finding was waived for another base", func(s State) outcome {
		i := s.own()
		return s.ofSound(i, func(o Opinion) bool { return !s.expired(*o.Record) }, func() Action {
			return s.review("a finding was waived for another base")
		})
	}},
	rule{"undisputed", "nothing requires another review", func(s State) outcome {
		i := s.own()
		return s.ofSound(i, func(o Opinion) bool { return o.Record.Verdict == verdict.Approve && !s.disputed(o) || s.again(o) == "" },
			func() Action { return s.review(s.again(s.Opinions[i])) })
	}},
	rule{"not held", "no person has to let it pass", func(s State) outcome {
		i := s.own()
		return s.ofSound(i, func(Opinion) bool { return !s.held(i) }, func() Action {
			return s.escalate("only a person may let it pass: approve exactly this head, or have it changed" + s.holds())
		})
	}},
	rule{Merged, "", func(s State) outcome { return unmet(verdict.TurnAuthor, s.act(Wait, "this head is reviewed")) }},
)

// askedAgain is the order for a review that this login's review of the head has not taken into account.
func (s State) askedAgain() (ordered verdict.Command, again bool) {
	ordered, again = verdict.LastOrder(s.Orders, verdict.AskReview)
	i := s.own()
	return ordered, again && (i < 0 || s.Opinions[i].precedes(ordered))
}

// sound reports whether the review at an index exists and is unchanged.
func (s State) sound(i int) bool { return i >= 0 && s.stands(s.Opinions[i]) }

// ofSound is a condition that only applies to a review that exists and is unchanged.
func (s State) ofSound(i int, ok func(Opinion) bool, act func() Action) outcome {
	if !s.sound(i) {
		return notApplicable
	}
	return metIf(ok(s.Opinions[i]), verdict.TurnReviewer, act)
}

// review makes the reviewer's agent review the head, within the bounds of rounds, attempts and costs.
func (s State) review(reason string) Action {
	return s.spend(Review, reason, s.rounds(func(login string) bool { return verdict.SameLogin(login, s.Self) }))
}

// unreviewable replaces an action that needs the result of the merge, if the head conflicts with its base.
// The author's agent merges the base first. If a person was called and answered, the label is removed for
// that. If no such agent is at work, the author is told once.
func (s State) unreviewable(a Action) (instead Action, ok bool) {
	switch {
	case s.Mergeable != MergeableDirty:
		return Action{}, false
	case s.Role == Author && a.Awaits != "": // no reviewer acts on a conflicting head
		return s.fix(conflicting), true
	case s.Role != Reviewer || a.Kind != Review && a.Kind != Lift:
		return Action{}, false
	case s.NeedsHuman && s.CalledAt.IsZero():
		return s.waitForPerson(), true
	case s.NeedsHuman: // the person has answered, and the label would keep the author's agent away
		return s.retry(Release, fmt.Sprintf("a person lets it pass, but it conflicts with %s, which is merged into it first", s.BaseBranch)), true
	}
	reason := fmt.Sprintf("it conflicts with %s, and is reviewed once that is merged into it", s.BaseBranch)
	left := max(signPatience-s.Now.Sub(s.AwaitedSince), s.Fixing.Sub(s.Now))
	switch conflict := (Left{Topic: "conflict"}); {
	case s.AwaitedSince.IsZero():
		left = signPatience
	case left <= 0 && !s.noticed(conflict):
		a = s.tell(conflict.Topic, reason)
		a.Awaits = reason
		return a, true
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: max(0, left), Awaits: reason, Noted: true}, true
}
