// Package decide owns the decision what a pull request needs next: from its state, which the
// caller reads, to what one agent does about it. It is pure and does no I/O.
package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

// Role is the side of the loop that an agent takes.
type Role string

// The two roles. Their identities on GitHub differ: nobody approves their own
// pull request.
const (
	Reviewer Role = "reviewer"
	Author   Role = "author"
)

// Kind is what an agent does next with a pull request.
type Kind string

// The kinds of action. Skip is for a pull request that is none of this agent's
// business, Wait for one that something else has to move, Done for one that
// is closed. Lift approves a head on a person's word, Release takes off the label
// that kept the agents away, Tell says that its author has to merge it, or that its reviewer does not answer, Reply says
// how an order is written that nobody can follow, Dequeue takes back what the agent
// itself put into a merge queue.
const (
	Skip     Kind = "skip"
	Wait     Kind = "wait"
	Done     Kind = "done"
	Review   Kind = "review"
	Lift     Kind = "lift"
	Fix      Kind = "fix"
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
	// SHA is the head that the action is about. It must still be the head when
	// the action is carried out.
	SHA string
	// Reason is a sentence part for people, without a full stop.
	Reason string
	// Recheck asks for another look after this long although no event may come;
	// 0 leaves it to the next event or sweep.
	Recheck time.Duration
	// Record is that of the approval which a Lift posts, or on which a Merge rests.
	Record *verdict.Record
	// Unclear is what a Reply answers.
	Unclear verdict.Unclear
	// Allowance is what a Review or a Fix may take; Daily says that its money is what is
	// left of the day's.
	Allowance verdict.Allowance
	Daily     bool
	// Topic is what a Tell is about, as in [Left].
	Topic string
	// Tomorrow says that an Escalate holds until the next midnight only.
	Tomorrow bool
	// Awaits is, of a Wait or a Tell, what one side waits for the other to do; "" if it does
	// not.
	Awaits string
	// Noted says that a Wait is worth telling whoever asks what the agent does, as that for a
	// person who works on the branch is; Computing that it
	// is for what GitHub computes in the background.
	Noted, Computing bool
}

// GitHub never sends an event for what it computes in the background, mostly within
// seconds. recheck is how soon to look again at first, and seldom when it takes long.
const (
	recheck = 2 * time.Second
	seldom  = time.Minute
)

// Next decides what the agent does now. It is pure and fails closed: whatever
// it does not understand ends in Wait or Escalate, never in Merge.
func Next(s State) Action {
	switch {
	case !s.Open:
		return s.act(Done, "the pull request is closed")
	case s.Self == "" || s.Author == "" || s.Head == "":
		return s.act(Wait, "GitHub's answer is incomplete")
	case s.Role == Reviewer:
		return s.whole(s.mergeable(nextReview(s)))
	case s.Role == Author:
		return s.whole(s.takeBack(nextFix(s)))
	}
	return s.act(Wait, "the agent has no role")
}

// whole is a, unless that does something about a pull request that was not read whole: a
// person is called to it instead, once for each head. What people order that takes no more than
// was read is done: the label goes when they say so, and who orders what nobody can follow is
// answered.
func (s State) whole(a Action) Action {
	acts := slices.Contains([]Kind{Review, Lift, Fix, Merge, Tell}, a.Kind)
	switch {
	case s.Unread == "" || !acts:
		return a
	case s.NeedsHuman:
		return s.act(Wait, "it waits for a person: "+s.Unread)
	case !s.CalledAt.IsZero():
		return s.act(Wait, s.Unread+", and is left to people, who were called to it")
	}
	return s.escalate(s.Unread + ": decide it by hand, or open another pull request of the same branch")
}

func nextReview(s State) Action {
	i := s.own()
	ordered, again := verdict.LastOrder(s.Orders, verdict.AskReview)
	again = again && (i < 0 || s.Opinions[i].precedes(ordered))
	switch {
	case verdict.SameLogin(s.Author, s.Self):
		return s.act(Skip, "GitHub lets nobody review their own pull request")
	case !s.Requested && !again:
		return s.act(Skip, "nobody asked "+s.Self+" to review it")
	case len(s.Unclear) > 0 && (s.Failed != Reply || s.Attempts < max(1, s.MaxAttempts)):
		a := s.retry(Reply, "nobody can follow what "+s.Unclear[0].By+" orders")
		a.Unclear = s.Unclear[0]
		return a
	case s.Draft:
		return s.act(Wait, "it is a draft")
	case s.stopped() != "":
		return s.act(Wait, s.stopped())
	}
	if word, ok := s.lifted(i); ok {
		a := s.retry(Lift, "a person lets it pass")
		a.Record = s.approval(i, word)
		return a
	}
	sound := i >= 0 && s.stands(s.Opinions[i])
	rounds := s.rounds(func(login string) bool { return verdict.SameLogin(login, s.Self) })
	switch {
	case s.NeedsHuman:
		return s.waitForPerson()
	case again:
		return s.spend(Review, ordered.By+" asks for a review", rounds)
	case sound && s.expired(*s.Opinions[i].Record):
		return s.spend(Review, "a finding was waived for another base", rounds)
	case sound && s.disputed(s.Opinions[i]):
		return s.spend(Review, "a finding is disputed", rounds)
	case sound && s.held(i):
		return s.escalate("only a person may let it pass: approve this very head, or have it changed")
	case sound:
		return s.act(Wait, "this head is reviewed")
	case i >= 0 && !s.Asked:
		return s.act(Wait, "its review was dismissed or edited; request it again for another one")
	}
	return s.spend(Review, "this head is not reviewed yet", rounds)
}

// mergeable is a, unless that is about what merging the head makes and the head conflicts with
// its base. The author's agent merges the base in, for which the label of a call that a person
// has answered comes off; where there is no such agent, its author is told once.
func (s State) mergeable(a Action) Action {
	if s.Mergeable != MergeableDirty || a.Kind != Review && a.Kind != Lift {
		return a
	}
	switch {
	case s.NeedsHuman && s.CalledAt.IsZero():
		return s.waitForPerson()
	case s.NeedsHuman: // the call is answered, and its label would keep the author's agent away
		return s.retry(Release, fmt.Sprintf("a person lets it pass, and it conflicts with %s, which is merged in first", s.BaseBranch))
	}
	reason := fmt.Sprintf("it conflicts with %s, and is reviewed once that is merged in", s.BaseBranch)
	left := signPatience - s.Now.Sub(s.AwaitedSince)
	switch conflict := (Left{Topic: "conflict"}); {
	case s.AwaitedSince.IsZero():
		left = signPatience
	case left <= 0 && !s.told(conflict):
		a = s.retry(Tell, reason)
		a.Topic, a.Awaits = conflict.Topic, reason
		return a
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: max(0, left), Awaits: reason, Noted: true}
}

func nextFix(s State) Action {
	switch {
	case !verdict.SameLogin(s.Author, s.Self):
		return s.act(Skip, "it is not "+s.Self+"'s own")
	case s.NeedsHuman && !s.Draft && s.stopped() == "":
		return s.waitForPerson()
	case s.barred() != "":
		return s.act(Wait, s.barred())
	}
	if s.Shared && s.Manual.Why == "" {
		s.Manual = Left{Topic: "shared", Why: sharedBranch}
	}
	rounds := s.rounds(s.trusts)
	switch s.stance() {
	case approves:
		return nextMerge(s, rounds)
	case takenBack:
		return s.awaitMerge("a review of this head was dismissed; request it again for another one", rounds)
	case objects:
		if !s.Fork && !s.Shared && s.namesNothing() {
			return s.unanswerable("the review requests changes and names nothing that a fix could answer: read why, and ask for another one with /touchstone review", rounds)
		}
		return s.fix(objected, rounds)
	case waits:
		return s.awaitMerge("only a person may let it pass, and one is being called", rounds)
	case passes:
		return s.awaitMerge("a person lets it pass, and its reviewer is about to approve it", rounds)
	case disputes:
		return s.awaitMerge("a finding is disputed, and its reviewer is about to judge it again", rounds)
	case doubtful:
		return s.unanswerable(s.doubt()+"; request it again for another one", rounds)
	}
	if _, ordered := verdict.LastOrder(s.Orders, verdict.AskReview); !s.Requested && !ordered {
		a := s.act(Wait, "nobody has asked "+strings.Join(s.Reviewers, " or ")+" for a review: request it on GitHub, or comment /touchstone review")
		a.Noted = true
		return a
	}
	return s.awaitMerge("this head is not reviewed yet", rounds)
}

// awaitMerge waits for what the reviewing agent says of merging the head. Of a head that conflicts
// with its base it says nothing, so the base is merged in first.
func (s State) awaitMerge(reason string, rounds int) Action {
	if s.Mergeable == MergeableDirty {
		return s.fix(conflicting, rounds)
	}
	return s.awaitReviewer(reason)
}

// unanswerable calls a person to a review that only another one can follow, unless that is
// ordered already.
func (s State) unanswerable(why string, rounds int) Action {
	ordered, ok := verdict.LastOrder(s.Orders, verdict.AskReview)
	for _, i := range s.Counting() {
		ok = ok && s.Opinions[i].precedes(ordered)
	}
	if ok {
		return s.awaitMerge(ordered.By+" asks for a review, and its reviewer is about to begin", rounds)
	}
	return s.escalate(why)
}

// precedes reports whether an order came after a review had begun; where that cannot be
// believed, after it was posted.
func (o Opinion) precedes(c verdict.Command) bool {
	if o.void() {
		return c.At.After(o.At)
	}
	return c.ID > o.Record.Heard
}

// doubt is why a review of this head cannot be believed, as a sentence part.
func (s State) doubt() string {
	for _, i := range s.Counting() {
		if o := s.Opinions[i]; o.Doubt != "" {
			return "the review of this head by " + o.By + " does not count: " + o.Doubt
		}
	}
	return "the review of this head was edited or does not agree with itself"
}

// namesNothing reports whether there is nothing that a session could work on: no finding, no
// hold, no failed check and no conflict.
func (s State) namesNothing() bool {
	for _, i := range s.Counting() {
		if r := s.Opinions[i].Record; r != nil && (len(s.heed(*r).Outstanding()) > 0 || len(r.Holds) > 0) {
			return false
		}
	}
	return s.Checks != ChecksFailed && s.Mergeable != MergeableDirty
}

// nextMerge is for a head that all its reviewers approve.
func nextMerge(s State, rounds int) Action {
	green := s.Checks == ChecksGreen || s.Checks == ChecksNone && !s.RequireChecks
	objector, overtaken := s.objector()
	uncertain, doubted := s.uncertainObjection()
	clean := s.Mergeable == MergeableClean || s.Mergeable == MergeableBlocked && s.Queue
	byAgent := s.Manual.Why == ""
	switch {
	case objector != "":
		return s.objected(objector, overtaken)
	case doubted:
		return s.escalate(fmt.Sprintf("it is approved, and %s requested changes of %.7s in a review that was edited since or cannot be believed, so that nothing tells whether they are still requested: dismiss that review on GitHub if they are not", uncertain.By, uncertain.SHA))
	case s.InQueue && (byAgent || !s.Enqueued):
		return s.queued()
	case s.Mergeable == MergeableDirty:
		return s.fix(conflicting, rounds)
	case s.Checks == ChecksFailed && s.BaseFails != "":
		fails := fmt.Sprintf("the check %q fails here as it does on %s", verdict.Clip(s.BaseFails, verdict.MaxReason), s.BaseBranch)
		return s.await(checkPatience, fails+", and is waited for", "it is approved, and has waited for a day: "+fails)
	case s.Checks == ChecksFailed && s.BaseFailed != "" && !s.Fork && !s.Shared:
		return s.fix(fmt.Sprintf("the check %q failed here as it did on %s, which has moved on", verdict.Clip(s.BaseFailed, verdict.MaxReason), s.BaseBranch), rounds)
	case s.Checks == ChecksFailed:
		return s.fix(failing, rounds)
	case len(s.Unbegun) > 0 && s.ExpectsChecks():
		return s.awaited()
	case s.Unproved != "" && green && clean:
		return s.unproved()
	case s.Silent != "" && s.RequireChecks && green && clean:
		return s.silent()
	case !byAgent && green && clean:
		return s.leave("it is approved and green", s.Manual)
	case !byAgent && green && (s.Mergeable == MergeableBehind || s.Mergeable == MergeableBlocked && s.left(rulePatience) <= 0):
		return s.leave("it is approved and green, and its base does not let it in as it is", s.Manual)
	case s.Checks == ChecksPending:
		return s.await(checkPatience, "checks are running", "it is approved, and its checks have been running for a day")
	case s.Checks == ChecksNone && s.RequireChecks:
		return s.unchecked()
	case !green:
		return s.await(rulePatience, "the state of the checks is unknown", "it is approved, and the state of its checks cannot be told")
	case !byAgent && s.Mergeable == MergeableBlocked:
		return s.waitForAuthor(s.Manual)
	case s.Mergeable == MergeableBehind:
		return s.fix(behind, rounds)
	case s.MaxAttempts > 0 && s.Queued >= s.MaxAttempts && clean:
		return s.escalate(fmt.Sprintf("it is approved and green, and the merge queue gave it back %s", verdict.Amount(s.Queued, "time", "times")))
	case len(s.Unclear) > 0:
		return s.awaitAnswer()
	case s.Mergeable == MergeableBlocked && !s.Queue, clean && s.refused():
		return s.waitForRules()
	case !clean:
		return s.compute()
	}
	a := s.spend(Merge, "it is approved and green", 0)
	a.Record = s.approvalRecord()
	return a
}

// approvalRecord is the latest record that approves this head.
func (s State) approvalRecord() *verdict.Record {
	var latest *verdict.Record
	for _, i := range s.Counting() {
		if s.Approves(i) {
			latest = s.Opinions[i].Record
		}
	}
	return latest
}

// awaitAnswer waits until somebody is told how an order is written that nobody can follow: it
// may have meant to stop.
func (s State) awaitAnswer() Action {
	ordered := s.Unclear[0].By + " has ordered what nobody can follow"
	return s.await(rulePatience, ordered+", and is about to be told", ordered+", and nobody has told them")
}

// Why a branch needs work.
const (
	objected    = "the review requests changes"
	conflicting = "it conflicts with its base"
	failing     = "a check failed"
	behind      = "it is behind its base, which is protected"
)

// sharedBranch is why a branch is left to people, and merging it as well.
const sharedBranch = "its branch is one that others build on"

// fix has the author's agent work on the branch, unless that is left to people, one of them is
// about to say something or works on it just now, or more of the same would bring nothing.
func (s State) fix(reason string, rounds int) Action {
	switch {
	case s.Fork:
		return s.leaveBranch(reason, "no agent pushes to the branch of a fork")
	case s.Shared:
		return s.leaveBranch(reason, sharedBranch)
	case s.Twin != "":
		return s.escalate(fmt.Sprintf("%s, and its branch is that of %s too, into which a fix would bring this one's base: close one of them or give it a branch of its own, or mend it by hand", reason, s.Twin))
	}
	if len(s.Unclear) > 0 {
		return s.awaitAnswer()
	}
	if by, until := s.pushed(); until.After(s.Now) {
		wait := min(until.Sub(s.Now), s.Pause)
		return Action{Kind: Wait, SHA: s.Head, Recheck: wait, Noted: true,
			Reason: fmt.Sprintf("%s pushed to the branch, and the agent makes way until %s", by, until.UTC().Format("15:04:05 UTC"))}
	}
	return s.spend(Fix, reason, rounds)
}

// waitForPerson leaves what has the label to people, until one of them has the
// agents go on.
func (s State) waitForPerson() Action {
	c, ok := verdict.LastOrder(s.Orders, verdict.Resume, verdict.AskReview, verdict.AskFix)
	if ok && !s.LabelledAt.IsZero() && !c.At.Before(s.LabelledAt) && s.ofThisBase(c.At) {
		return s.retry(Release, c.By+" has the agents go on")
	}
	if s.Rested {
		return s.retry(Release, "the day whose budget was spent is over")
	}
	return s.act(Wait, "it waits for a person")
}

// stopped says, as a sentence part, who has stopped the agents, or "".
func (s State) stopped() string {
	c, ok := verdict.LastOrder(s.Orders, verdict.Stop, verdict.Resume)
	switch {
	case !ok || c.Verb != verdict.Stop:
		return ""
	case c.Removed != "":
		return fmt.Sprintf("%s edited or deleted a comment of %s's that stopped the agents, or may have; /touchstone resume has them go on", c.Removed, c.By)
	}
	return c.By + " has stopped the agents here"
}

// barred is why an agent of the state's role holds no session about a pull request,
// whatever was said of its head; empty if nothing keeps it away.
func (s State) barred() string {
	switch {
	case s.stopped() != "":
		return s.stopped()
	case !s.Open:
		return "the pull request is closed"
	case s.Draft:
		return "it is a draft"
	case s.NeedsHuman:
		return "it waits for a person"
	case s.Held && s.Role == Author:
		return "a label holds it"
	}
	return ""
}

// rounds counts the heads that the logins chosen by by have reviewed since the
// agents last began afresh. An approval that no model gave, as of one that was carried
// over, is no round: however often the base moves, nobody works on the change for that.
func (s State) rounds(by func(login string) bool) int {
	since := s.Since()
	heads := map[string]bool{}
	for _, o := range s.Opinions {
		worked := o.Record != nil && (o.Record.Engine != "" || o.Record.Verdict != verdict.Approve)
		if by(o.By) && worked && (since.IsZero() || o.At.After(since)) {
			heads[o.SHA] = true
		}
	}
	return len(heads)
}

// Since is when the agents last began afresh: when a person was called, or gave the
// order to go on. What failed before counts no more. It is zero if that never was.
func (s State) Since() time.Time {
	since := s.EscalatedAt
	if c, ok := verdict.LastOrder(s.Orders, verdict.Resume, verdict.AskReview, verdict.AskFix); ok && c.At.After(since) {
		since = c.At
	}
	return since
}

// spend is act for an action that can fail again and again: bounded in rounds,
// attempts and costs, beyond which a person has to look.
func (s State) spend(k Kind, reason string, rounds int) Action {
	var allowed limit
	if k != Merge {
		allowed = s.allowance()
	}
	over, tomorrow := s.over(k, rounds, allowed)
	switch {
	case s.Hopeless && s.Failed == k && s.Attempts > 0:
		return s.escalate(reason + ", and what keeps that from being done does not pass by itself")
	case s.MaxAttempts > 0 && s.Attempts >= s.MaxAttempts:
		return s.escalate(fmt.Sprintf("%s, and %s on this head came to nothing", reason, verdict.Amount(s.Attempts, "attempt", "attempts")))
	case (over != "" || k == Fix && s.BaseFailed != "") && s.needsNoModel(k) && (s.Failed != k || s.Attempts == 0):
		a := s.retry(k, reason)
		a.Allowance.NoModel = true
		return a
	case over != "":
		a := s.escalate(reason + ", and " + over)
		a.Tomorrow = tomorrow
		return a
	case allowed.promised:
		return Action{Kind: Wait, SHA: s.Head, Recheck: promisePause, Reason: reason + ", and what is left of the day's budget is promised to sessions under way"}
	}
	a := s.retry(k, reason)
	a.Allowance, a.Daily = allowed.Allowance, allowed.daily
	return a
}

// over says, as a sentence part, why no more sessions are begun; tomorrow, that the next day
// brings more.
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

// needsNoModel reports whether an act mostly takes no session: to bring an approved head up
// to date with its base, which asks for that or has mended a check, and to carry an approval
// over that.
func (s State) needsNoModel(k Kind) bool {
	if k == Fix {
		old := s.Mergeable == MergeableBehind && s.Checks == ChecksGreen
		mended := s.Mergeable != MergeableDirty && s.Checks == ChecksFailed && s.BaseFailed != ""
		return s.stance() == approves && (old || mended)
	}
	var latest *Opinion
	for i, o := range s.Opinions {
		if verdict.SameLogin(o.By, s.Self) && !o.void() {
			latest = &s.Opinions[i]
		}
	}
	return k == Review && latest != nil && latest.SHA != s.Head && latest.State == "APPROVED" && latest.Record.Verdict == verdict.Approve && latest.Record.Lifted == nil
}

// escalate calls a person. It has no bound but its own waiting time: there is
// nobody else to turn to.
func (s State) escalate(reason string) Action { return s.retry(Escalate, reason) }

// retry is act for an action that has to wait if it is the one that failed last.
func (s State) retry(k Kind, reason string) Action {
	if s.Failed == k && s.RetryIn > 0 {
		return Action{Kind: Wait, SHA: s.Head, Reason: "the last attempt came to nothing; the next one waits", Recheck: s.RetryIn}
	}
	return s.act(k, reason)
}

func (s State) act(k Kind, reason string) Action {
	return Action{Kind: k, SHA: s.Head, Reason: reason}
}
