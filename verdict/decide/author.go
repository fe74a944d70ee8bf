package decide

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/verdict"
)

// authorRules are the conditions that the author's agent checks: first those that keep it away from a pull
// request, then those for an approval, then those for the merge of an approved head.
var authorRules = append(general[:len(general):len(general)],
	rule{"own", "it is its author's own", func(s State) outcome {
		return metIf(verdict.SameLogin(s.Author, s.Self), verdict.TurnNobody, func() Action { return s.act(Skip, "it is not "+s.Self+"'s own") })
	}},
	rule{"author there", "its author has an account", func(s State) outcome {
		return metIf(!verdict.SameLogin(s.Author, verdict.DeletedLogin), verdict.TurnPerson, func() Action {
			return s.act(Wait, "its author's account is deleted, so no agent merges it: merge it by hand, or open another pull request of its "+
				"branch")
		})
	}},
	notStopped,
	notDraft,
	noPersonCalled,
	rule{"not held", "no label holds it", func(s State) outcome {
		return metIf(s.HoldLabel == "", verdict.TurnPerson, func() Action { return s.act(Wait, "the label "+s.HoldLabel+" holds it") })
	}},
	rule{"asked", "its review is asked for", func(s State) outcome {
		_, ordered := verdict.LastOrder(s.Orders, verdict.AskReview)
		if s.stance() != unreviewed {
			return notApplicable
		}
		return metIf(s.Requested || ordered, verdict.TurnAuthor, func() Action {
			who := strings.Join(s.Reviewers, " or ")
			a := s.act(Wait, "nobody has asked "+who+" for a review: request it on GitHub, or comment /touchstone review")
			a.Noted = true
			return a
		})
	}},
	rule{reviewed, "this head is reviewed", State.hasReview},
	rule{letPass, "no person has to let it pass", State.letPass},
	rule{approved, "its reviewers approve this head", State.approvedByAll},
	rule{noObjection, "nobody requests changes", State.unopposed},
	rule{"not queued", "it is not in the merge queue", func(s State) outcome {
		return metIf(!s.InQueue || s.Manual.Why != "" && s.Enqueued, verdict.TurnCI, s.queued)
	}},
	rule{"mergeable", "it does not conflict with its base", func(s State) outcome {
		o := metIf(s.Mergeable != MergeableDirty, verdict.TurnAuthor, func() Action { return s.fix(conflicting) })
		return o.because("it conflicts with " + s.BaseBranch)
	}},
	rule{checks, "its checks are green", State.green},
	// CI may be down, or the check have nothing to do with the change any more; a person can tell which.
	// The name is older than the words around it, and stays: `why --format json` prints it.
	rule{"mended", "no check is known to have failed that has not run again", func(s State) outcome {
		if !s.clean() || s.green().state != Met {
			return notApplicable
		}
		why := fmt.Sprintf("the check %q failed on an earlier head, and has not run on this one", verdict.Clip(s.FailedBefore, verdict.MaxReason))
		return metIf(s.FailedBefore == "", verdict.TurnAuthor, func() Action {
			return s.leaveUnproven(Left{Topic: FailedBefore, OneHead: true, Why: why})
		}).because(why)
	}},
	// A person may have kept CI from starting.
	rule{"seen by CI", "what reports on the base has run on it", func(s State) outcome {
		if !s.RequireChecks || !s.clean() || s.green().state != Met {
			return notApplicable
		}
		why := fmt.Sprintf("the check %q, which reports on %s, has not run on it", verdict.Clip(s.Silent, verdict.MaxReason), s.BaseBranch)
		return metIf(s.Silent == "", verdict.TurnAuthor, func() Action {
			return s.leaveUnproven(Left{Topic: NoCheck, OneHead: true, Why: why})
		}).because(why)
	}},
	rule{"automatic", "its author's agent may merge it", State.automatic},
	rule{"nits applied", "no suggestion of a nit is left to be applied", State.nitsApplied},
	rule{"up to date", "its base asks for nothing newer", func(s State) outcome {
		o := metIf(s.Mergeable != MergeableBehind, verdict.TurnAuthor, func() Action { return s.fix(behind) })
		return o.because(fmt.Sprintf("it must contain the tip of %s, but does not", s.BaseBranch))
	}},
	rule{"taken by the queue", "the merge queue has not rejected it too often", func(s State) outcome {
		if !s.clean() {
			return notApplicable
		}
		return metIf(s.MaxAttempts <= 0 || s.Queued < s.MaxAttempts, verdict.TurnPerson, func() Action {
			return s.escalate(fmt.Sprintf("it is approved and green, but the merge queue rejected it %s",
				verdict.Amount(s.Queued, "time", "times")))
		})
	}},
	rule{"orders understood", "all orders can be followed", func(s State) outcome {
		if len(s.Unclear) == 0 {
			return met
		}
		return unmet(verdict.TurnReviewer, s.awaitAnswer()).because(s.Unclear[0].By + " gave an order that cannot be followed")
	}},
	rule{"let in", "the rules of its base allow the merge", func(s State) outcome {
		if s.InQueue {
			return notApplicable
		}
		blocked := s.Mergeable == MergeableBlocked && !s.Queue || s.clean() && s.refused()
		why := fmt.Sprintf("the rules of %s block the merge: %s", s.BaseBranch, s.barring())
		return metIf(!blocked, verdict.TurnPerson, s.waitForRules).because(why)
	}},
	rule{"computed", "GitHub says that it can be merged", func(s State) outcome {
		known := s.clean() || s.Mergeable == MergeableDirty || s.Mergeable == MergeableBehind || s.Mergeable == MergeableBlocked
		if !s.Open {
			return notApplicable
		}
		return metIf(known, verdict.TurnNobody, s.compute)
	}},
	rule{Merged, "", func(s State) outcome {
		a := s.spend(Merge, "it is approved and green", 0)
		a.Record = s.approvalRecord()
		return unmet(verdict.TurnAuthor, a)
	}},
)

// clean reports whether the head can be merged, except perhaps that it must go through the merge queue.
func (s State) clean() bool {
	return s.Mergeable == MergeableClean || s.Mergeable == MergeableBlocked && s.Queue
}

// hasReview is unmet if no reviewer has a credible review of this head.
func (s State) hasReview() outcome {
	switch s.stance() {
	case unreviewed:
		return unmet(verdict.TurnReviewer, s.awaitReviewer("this head is not reviewed yet")).because(s.noReview())
	case takenBack:
		o := unmet(verdict.TurnReviewer, s.awaitReviewer("a review of this head was dismissed; request it again for another one"))
		return o.because(fmt.Sprintf("the review of this head by %s was dismissed: request it again for another one", s.by(s.takenBack())))
	case doubtful:
		return unmet(verdict.TurnReviewer, s.unanswerable(s.doubt()+"; request it again for another one")).because(s.doubt())
	}
	return met
}

// letPass is unmet if only a person may let the head pass.
func (s State) letPass() outcome {
	switch s.stance() {
	case waits:
		o := unmet(verdict.TurnPerson, s.awaitReviewer("only a person may let it pass, and one is being called"))
		return o.because(fmt.Sprintf("%.7s is held: a person has to approve it in a review%s", s.Head, s.holds()))
	case passes:
		return unmet(verdict.TurnReviewer, s.awaitReviewer("a person lets it pass, and its reviewer is about to approve it"))
	case unreviewed, takenBack, doubtful:
		return notApplicable
	}
	return met
}

// approvedByAll is unmet if a reviewer of the head does not approve it.
func (s State) approvedByAll() outcome {
	switch s.stance() {
	case approves:
		return met
	case disputes:
		return unmet(verdict.TurnReviewer, s.awaitReviewer(s.rejudged()+", and its reviewer is about to judge it again"))
	case objects:
		if !s.Fork && !s.Shared && s.namesNothing() {
			return unmet(verdict.TurnPerson, s.unanswerable("the review requests changes but names nothing that a fix could address: "+
				"read it for the reason, and request another one with /touchstone review"))
		}
		if what := s.onlyTexts(); what != "" {
			return unmet(verdict.TurnAuthor, s.askEdit(what)).because(what)
		}
		return unmet(verdict.TurnAuthor, s.fix(objected)).because(s.requested())
	}
	return notApplicable
}

// unopposed is unmet if somebody still requests changes, perhaps of an older head. While an approval is
// missing, it ignores the objections of the reviewers' agents: the condition approved already stands for
// them.
func (s State) unopposed() outcome {
	against := s.objections()
	if s.stance() != approves {
		against = slices.DeleteFunc(against, func(o Opinion) bool { return o.Record != nil && s.trusts(o.By) })
	}
	if len(against) == 0 {
		return met
	}
	if objector, overtaken := s.objector(); objector != "" {
		return unmet(verdict.TurnPerson, s.objected(objector, overtaken)).because(opposed(against))
	}
	o := s.objections()[0] // without an objector, all of them are uncertain
	return unmet(verdict.TurnPerson, s.escalate(fmt.Sprintf("it is approved, but %s requested changes of %.7s in a review that was edited "+
		"since or is not trusted, so it is not clear whether they are still requested: if they are not, dismiss that review on GitHub",
		o.By, o.SHA))).because(opposed(against))
}

// green is about the checks of a head.
func (s State) green() outcome {
	const running, unknown = "checks are running", "the state of the checks is unknown"
	switch {
	case s.Checks == ChecksFailed:
		return s.failed()
	case len(s.Unbegun) > 0 && s.expectsChecks():
		return unmet(verdict.TurnCI, s.awaited())
	case s.Checks == ChecksGreen || s.Checks == ChecksNone && !s.RequireChecks:
		return met
	case s.Checks == ChecksPending && s.Stuck != "":
		return unmet(verdict.TurnCI, s.await(checkPatience, s.Stuck, "it is approved, and has waited for a day: "+s.Stuck))
	case s.Checks == ChecksPending:
		o := unmet(verdict.TurnCI, s.await(checkPatience, running, "it is approved, and its checks have been running for a day"))
		return o.because(named(s.Running, "is pending", "are pending", running))
	case s.Checks == ChecksNone:
		return unmet(verdict.TurnCI, s.unchecked()).because(s.noCheck().Why)
	}
	return unmet(verdict.TurnCI, s.await(rulePatience, unknown, "it is approved, but the state of its checks is unknown")).because(unknown)
}

// failed is about a head with a failed check.
func (s State) failed() outcome {
	switch {
	case s.BaseFails != "":
		fails := fmt.Sprintf("the check %q fails here as it does on %s", verdict.Clip(s.BaseFails, verdict.MaxReason), s.BaseBranch)
		o := unmet(verdict.TurnCI, s.await(checkPatience, fails+", and is waited for", "it is approved, and has waited for a day: "+fails))
		return o.because(fails)
	case s.BaseFailed != "" && !s.Fork && !s.Shared:
		name := verdict.Clip(s.BaseFailed, verdict.MaxReason)
		return unmet(verdict.TurnAuthor, s.fix(
			fmt.Sprintf("the check %q failed here as it did on %s, which has changed since", name, s.BaseBranch)))
	}
	return unmet(verdict.TurnAuthor, s.fix(failing)).because(named(s.Failing, "failed", "failed", failing))
}

// automatic is unmet if the author, and not the agent, merges the head. While GitHub still computes whether
// the head merges, the condition does not apply.
func (s State) automatic() outcome {
	switch {
	case s.Manual.Why == "":
		return met
	case s.clean():
		return s.toAuthor(s.leave("it is approved and green", s.Manual))
	case s.Mergeable == MergeableBehind, s.Mergeable == MergeableBlocked && s.left(rulePatience) <= 0:
		return s.toAuthor(s.leave("it is approved and green, but its base does not accept it as it is", s.Manual))
	case s.Mergeable == MergeableBlocked, s.Mergeable == MergeableDirty:
		return s.toAuthor(s.waitForAuthor(s.Manual))
	}
	return notApplicable
}

func (s State) toAuthor(a Action) outcome {
	return unmet(verdict.TurnAuthor, a).because("its author has to merge it: " + s.Manual.Why)
}
