package decide

import (
	"fmt"
	"time"

	"touchstone/verdict"
)

// Role is the side of the loop that an agent takes.
type Role string

// The two roles. They need different logins: GitHub does not let authors approve their own pull requests.
const (
	Reviewer Role = "reviewer"
	Author   Role = "author"
)

// Kind is what an agent does next with a pull request.
type Kind string

// The kinds of action:
//
// Skip: the pull request is none of this agent's business. Wait: something else must happen first. Done: the
// pull request is closed. Apply: push the edits that the nits of an approval propose. Lift: approve a head on
// a person's word. Release: remove the label that kept the agents away. Tell: say that the author must merge,
// or that the reviewer does not respond. Reply: explain how to write an order that could not be followed.
// Dequeue: take back what this agent put into a merge queue.
const (
	Skip     Kind = "skip"
	Wait     Kind = "wait"
	Done     Kind = "done"
	Review   Kind = "review"
	Lift     Kind = "lift"
	Fix      Kind = "fix"
	Apply    Kind = "apply"
	Merge    Kind = "merge"
	Tell     Kind = "tell"
	Escalate Kind = "escalate"
	Release  Kind = "release"
	Reply    Kind = "reply"
	Dequeue  Kind = "dequeue"
)

// Action is the decision of [Next].
type Action struct {
	Kind Kind
	// SHA is the head that the action is for. It must still be the head when the action is carried out.
	SHA string
	// Reason is a sentence fragment for people, without a full stop.
	Reason string
	// Recheck asks for another look after this time even if no event comes. 0 leaves it to the next event or
	// sweep.
	Recheck time.Duration
	// Record is the approval that a Lift posts, that a Merge rests on, or whose Edits an Apply applies.
	Record *verdict.Record
	// Unclear is the order that a Reply answers.
	Unclear verdict.Unclear
	// Allowance bounds what a Review or a Fix may cost. Daily says that its money is what is left of the
	// day's budget.
	Allowance verdict.Allowance
	Daily     bool
	// Topic is the topic of a Tell, as in [Left].
	Topic string
	// Tomorrow says that an Escalate only holds until the next midnight.
	Tomorrow bool
	// Awaits, for a Wait or a Tell, is what one role waits for the other to do; "" if it does not wait for
	// that.
	Awaits string
	// Noted says that a Wait is shown to users who ask what the agent does, such as the wait for a person who
	// works on the branch. Computing says that the Wait is for something that GitHub computes in the
	// background.
	Noted, Computing bool
	// Condition is the name of the unmet condition that the action is about. Turn says whose turn it is, and
	// On who that is.
	Condition string
	Turn      verdict.Turn
	On        verdict.Party
	// Status is what people are told about the action.
	Status Status
}

// GitHub sends no event for what it computes in the background, which mostly takes seconds. recheck is the
// first interval for polling it, seldom the longest one.
const (
	recheck = 2 * time.Second
	seldom  = time.Minute
)

// unanswerable calls a person about a review that only another review can resolve, unless one is ordered
// already.
func (s State) unanswerable(why string) Action {
	ordered, ok := verdict.LastOrder(s.Orders, verdict.AskReview)
	for _, i := range s.Counting() {
		ok = ok && s.Opinions[i].precedes(ordered)
	}
	if ok {
		return s.awaitReviewer(ordered.By + " asks for a review, and its reviewer is about to start")
	}
	return s.escalate(why)
}

// precedes reports whether an order came after the review had begun. If the review's record cannot be
// believed, the time of the post counts instead.
func (o Opinion) precedes(c verdict.Command) bool {
	if o.void() {
		return c.At.After(o.At)
	}
	return c.ID > o.Record.LastComment
}

// doubt says why a review of this head is not believed, as a sentence fragment.
func (s State) doubt() string {
	for _, i := range s.Counting() {
		switch o := s.Opinions[i]; {
		case o.Doubt != "":
			return "the review of this head by " + o.By + " is ignored: " + o.Doubt
		case o.Edited:
			return "the review of this head by " + o.By + " is ignored: it was edited"
		}
	}
	return "the review of this head contradicts itself"
}

// namesNothing reports whether a session would have nothing to work on: no finding, no hold, no failed check
// and no conflict.
func (s State) namesNothing() bool {
	for _, i := range s.Counting() {
		if r := s.Opinions[i].Record; r != nil && (len(s.withOrders(*r).Outstanding()) > 0 || len(r.Holds) > 0) {
			return false
		}
	}
	return s.Checks != ChecksFailed && s.Mergeable != MergeableDirty
}

// approvalRecord is the newest record that approves this head.
func (s State) approvalRecord() *verdict.Record {
	var latest *verdict.Record
	for _, i := range s.Counting() {
		if s.Approves(i) {
			latest = s.Opinions[i].Record
		}
	}
	return latest
}

// awaitAnswer waits until somebody whose order cannot be followed was told how to write it: the order may
// have been meant to stop the agents.
func (s State) awaitAnswer() Action {
	ordered := s.Unclear[0].By + " gave an order that cannot be followed"
	return s.await(rulePatience, ordered+", and is about to be told", ordered+", and nobody has told them")
}

// Reasons why a branch needs work.
const (
	objected    = "the review requests changes"
	conflicting = "it conflicts with its base"
	failing     = "a check failed"
	behind      = "it is behind its base, which is protected"
)

// sharedBranch is why a branch, and its merge, are left to people.
const sharedBranch = "other branches are built on its branch"

// fix makes the author's agent work on the branch, with four exceptions: the branch is left to people,
// somebody's order waits for an answer, a person is working on the branch, or more fixes would not help.
func (s State) fix(reason string) Action {
	switch {
	case s.Fork:
		return s.leaveBranch(reason, "no agent pushes to the branch of a fork")
	case s.Shared:
		return s.leaveBranch(reason, sharedBranch)
	case s.SameBranch != "":
		return s.escalate(fmt.Sprintf("%s, and %s has the same branch, so a fix would merge this one's base into both: close one of them, "+
			"give it its own branch, or make the fix by hand", reason, s.SameBranch))
	}
	if len(s.Unclear) > 0 {
		return s.awaitAnswer()
	}
	if by, until := s.pushed(); until.After(s.Now) {
		wait := min(until.Sub(s.Now), s.Pause)
		return Action{Kind: Wait, SHA: s.Head, Recheck: wait, Noted: true,
			Reason: fmt.Sprintf("%s pushed to the branch, and the agent leaves it alone until %s", by, until.UTC().Format("15:04:05 UTC"))}
	}
	return s.spend(Fix, reason, s.rounds(s.trusts))
}

// waitForPerson leaves a pull request with the label to people, until one of them tells the agents to
// continue.
func (s State) waitForPerson() Action {
	c, ok := verdict.LastOrder(s.Orders, verdict.Resume, verdict.AskReview, verdict.AskFix)
	if ok && !s.LabelledAt.IsZero() && !c.At.Before(s.LabelledAt) && s.ofThisBase(c.At) {
		return s.retry(Release, c.By+" told the agents to continue")
	}
	if s.Rested {
		return s.retry(Release, "the day whose budget was spent is over")
	}
	return s.act(Wait, "it waits for a person"+s.called())
}

// called says what a person was called for, after a colon, or "".
func (s State) called() string {
	if held := s.holds(); held != "" || s.CalledFor == "" {
		return held
	}
	return ": " + s.CalledFor
}

// stopped says, as a sentence fragment, who stopped the agents, or "".
func (s State) stopped() string {
	c, ok := verdict.LastOrder(s.Orders, verdict.Stop, verdict.Resume)
	switch {
	case !ok || c.Verb != verdict.Stop:
		return ""
	case c.Removed != "":
		return fmt.Sprintf("%s edited or deleted a comment by %s that stopped the agents, or may have; /touchstone resume lets them continue",
			c.Removed, c.By)
	}
	return c.By + " has stopped the agents here"
}

// rounds counts the heads that the logins selected by by have reviewed since the agents last started over. A head
// counts again each time that it was reviewed for another base than before: somebody could switch between two bases
// for ever. An approval without a model, such as one that was carried over, is no round: the base may move often
// without any work on the change.
func (s State) rounds(by func(login string) bool) int {
	since, n := s.Since(), 0
	bases := map[string]string{} // of the latest review, by head
	for _, o := range s.Opinions {
		worked := o.Record != nil && (o.Record.Engine != "" || o.Record.Verdict != verdict.Approve)
		if !by(o.By) || !worked || !since.IsZero() && !o.At.After(since) {
			continue
		}
		if base, known := bases[o.SHA]; !known || base != o.Record.BaseBranch {
			n++
		}
		bases[o.SHA] = o.Record.BaseBranch
	}
	return n
}

// Since is when the agents last started over: when a person was called, or ordered them to continue. Earlier
// failures no longer count. It is zero if that never happened.
func (s State) Since() time.Time {
	c, _ := verdict.LastOrder(s.Orders, verdict.Resume, verdict.AskReview, verdict.AskFix) // without one, it is zero
	return latest(s.EscalatedAt, c.At)
}

// spend is act for an action that can fail again and again. It is bounded in rounds, attempts and costs;
// beyond them a person must look.
func (s State) spend(k Kind, reason string, rounds int) Action {
	var allowed limit
	if k != Merge {
		allowed = s.allowance()
	}
	over, tomorrow := s.over(k, rounds, allowed)
	switch {
	case s.Permanent && s.Failed == k && s.Attempts > 0:
		return s.escalate(reason + ", and trying again would fail in the same way")
	case s.MaxAttempts > 0 && s.Attempts >= s.MaxAttempts:
		return s.escalate(fmt.Sprintf("%s, and %s on this head failed", reason, verdict.Amount(s.Attempts, "attempt", "attempts")))
	case (over != "" || k == Fix && s.BaseFailed != "") && s.needsNoModel(k) && (s.Failed != k || s.Attempts == 0):
		a := s.retry(k, reason)
		a.Allowance.NoModel = true
		return a
	case over != "":
		a := s.escalate(reason + ", and " + over)
		a.Tomorrow = tomorrow
		return a
	case allowed.promised:
		return Action{Kind: Wait, SHA: s.Head, Recheck: promisePause,
			Reason: reason + ", and the rest of the day's budget is reserved for running sessions"}
	}
	a := s.retry(k, reason)
	a.Allowance, a.Daily = allowed.Allowance, allowed.daily
	return a
}

// leaveToAnother waits if another machine of this login already has the session that the act needs. That
// machine also reports the status of the head.
func (s State) leaveToAnother(a Action) (wait Action, left bool) {
	lease := s.Elsewhere.Sub(s.Now)
	if a.Kind != Review && a.Kind != Fix || lease <= 0 {
		return a, false
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: a.Reason + ", and another machine of " + s.Self + " is working on it", Recheck: lease}, true
}

// over says, as a sentence fragment, why no more sessions are started. tomorrow says that the next day brings
// a new budget.
func (s State) over(k Kind, rounds int, allowed limit) (why string, tomorrow bool) {
	if k == Fix {
		why = s.stalled()
	}
	if why == "" && s.MaxRounds > 0 && rounds >= s.MaxRounds {
		why = verdict.Amount(rounds, "round has", "rounds have") + " not been enough"
	}
	if why == "" {
		return allowed.short, allowed.tomorrow
	}
	return why, false
}

// needsNoModel reports whether an act mostly needs no session: updating an approved head from its base,
// because the base requires it or fixed a check; and carrying an approval over such an update.
func (s State) needsNoModel(k Kind) bool {
	if k == Fix {
		old := s.Mergeable == MergeableBehind && s.Checks == ChecksGreen
		rerun := s.Mergeable != MergeableDirty && s.Checks == ChecksFailed && s.BaseFailed != ""
		return s.stance() == approves && (old || rerun)
	}
	var latest *Opinion
	for i, o := range s.Opinions {
		if verdict.SameLogin(o.By, s.Self) && !o.void() {
			latest = &s.Opinions[i]
		}
	}
	return k == Review && latest != nil && latest.SHA != s.Head && latest.State == "APPROVED" && latest.Record.Verdict == verdict.Approve &&
		latest.Record.Lifted == nil
}

// escalate calls a person. Only its own retry delay bounds it: there is no other way to get help.
func (s State) escalate(reason string) Action { return s.retry(Escalate, reason) }

// retry is act, except that the action that failed last must wait before it is tried again.
func (s State) retry(k Kind, reason string) Action {
	if s.Failed == k && s.RetryIn > 0 {
		return Action{Kind: Wait, SHA: s.Head, Reason: "the last attempt failed; the next one is delayed", Recheck: s.RetryIn}
	}
	return s.act(k, reason)
}

func (s State) act(k Kind, reason string) Action {
	return Action{Kind: k, SHA: s.Head, Reason: reason}
}
