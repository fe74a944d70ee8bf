package decide

import (
	"fmt"
	"time"

	"touchstone/verdict"
)

// Role is the side of the loop that an agent takes.
type Role string

// The two roles. They have different logins: GitHub does not let authors approve their own pull
// requests.
const (
	Reviewer Role = "reviewer"
	Author   Role = "author"
)

// Kind is what an agent does next with a pull request.
type Kind string

// The kinds of action. Skip is for a pull request that is none of this agent's
// business, Wait for one that something else has to move, Done for one that
// is closed. Apply pushes what the nits of an approval propose, Lift approves a head on a person's
// word, Release takes off the label that kept the agents away, Tell says that its author has to
// merge it, or that its reviewer does not answer, Reply says how to write an order
// that could not be followed, Dequeue takes back what the agent itself put into a merge queue.
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
	// SHA is the head that the action is about. It must still be the head when
	// the action is carried out.
	SHA string
	// Reason is a sentence part for people, without a full stop.
	Reason string
	// Recheck asks for another look after this long although no event may come;
	// 0 leaves it to the next event or sweep.
	Recheck time.Duration
	// Record is that of the approval which a Lift posts, on which a Merge rests, or of which an
	// Apply applies the Edits.
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
	// Noted says that a Wait is shown to users who ask what the agent does, such as the wait for a person who works
	// on the branch; Computing that it is for what GitHub computes in the background.
	Noted, Computing bool
	// Condition is the name of the unmet condition that the action is about, Turn whose turn it
	// is, and On who that is.
	Condition string
	Turn      verdict.Turn
	On        verdict.Party
	// Status tells people of the action.
	Status Status
}

// GitHub never sends an event for what it computes in the background, mostly within
// seconds. recheck is how soon to look again at first, and seldom when it takes long.
const (
	recheck = 2 * time.Second
	seldom  = time.Minute
)

// unanswerable calls a person to a review that only another one can follow, unless that is
// ordered already.
func (s State) unanswerable(why string) Action {
	ordered, ok := verdict.LastOrder(s.Orders, verdict.AskReview)
	for _, i := range s.Counting() {
		ok = ok && s.Opinions[i].precedes(ordered)
	}
	if ok {
		return s.awaitReviewer(ordered.By + " asks for a review, and its reviewer is about to begin")
	}
	return s.escalate(why)
}

// precedes reports whether an order came after a review had begun; where that cannot be
// believed, after it was posted.
func (o Opinion) precedes(c verdict.Command) bool {
	if o.void() {
		return c.At.After(o.At)
	}
	return c.ID > o.Record.LastComment
}

// doubt is why a review of this head cannot be believed, as a sentence part.
func (s State) doubt() string {
	for _, i := range s.Counting() {
		switch o := s.Opinions[i]; {
		case o.Doubt != "":
			return "the review of this head by " + o.By + " does not count: " + o.Doubt
		case o.Edited:
			return "the review of this head by " + o.By + " does not count: it was edited"
		}
	}
	return "the review of this head does not agree with itself"
}

// namesNothing reports whether there is nothing that a session could work on: no finding, no
// hold, no failed check and no conflict.
func (s State) namesNothing() bool {
	for _, i := range s.Counting() {
		if r := s.Opinions[i].Record; r != nil && (len(s.withOrders(*r).Outstanding()) > 0 || len(r.Holds) > 0) {
			return false
		}
	}
	return s.Checks != ChecksFailed && s.Mergeable != MergeableDirty
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

// awaitAnswer waits until the author of an order that cannot be followed has been told how to write it: it may have
// meant to stop.
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
func (s State) fix(reason string) Action {
	switch {
	case s.Fork:
		return s.leaveBranch(reason, "no agent pushes to the branch of a fork")
	case s.Shared:
		return s.leaveBranch(reason, sharedBranch)
	case s.SameBranch != "":
		return s.escalate(fmt.Sprintf("%s, and its branch is that of %s too, into which a fix would bring this one's base: close one of them "+
			"or give it a branch of its own, or mend it by hand", reason, s.SameBranch))
	}
	if len(s.Unclear) > 0 {
		return s.awaitAnswer()
	}
	if by, until := s.pushed(); until.After(s.Now) {
		wait := min(until.Sub(s.Now), s.Pause)
		return Action{Kind: Wait, SHA: s.Head, Recheck: wait, Noted: true,
			Reason: fmt.Sprintf("%s pushed to the branch, and the agent makes way until %s", by, until.UTC().Format("15:04:05 UTC"))}
	}
	return s.spend(Fix, reason, s.rounds(s.trusts))
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
	return s.act(Wait, "it waits for a person"+s.called())
}

// called says for what it waits for a person, behind a colon, or "".
func (s State) called() string {
	if held := s.holds(); held != "" || s.CalledFor == "" {
		return held
	}
	return ": " + s.CalledFor
}

// stopped says, as a sentence part, who has stopped the agents, or "".
func (s State) stopped() string {
	c, ok := verdict.LastOrder(s.Orders, verdict.Stop, verdict.Resume)
	switch {
	case !ok || c.Verb != verdict.Stop:
		return ""
	case c.Removed != "":
		return fmt.Sprintf("%s edited or deleted a comment of %s's that stopped the agents, or may have; /touchstone resume has them go on",
			c.Removed, c.By)
	}
	return c.By + " has stopped the agents here"
}

// rounds counts the heads that the logins chosen by by have reviewed since the
// agents last began afresh. An approval that no model gave, such as one that was carried over, is no round: the base
// may move often without any work on the change.
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
	case s.Permanent && s.Failed == k && s.Attempts > 0:
		return s.escalate(reason + ", and trying again would end the same way")
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
		return Action{Kind: Wait, SHA: s.Head, Recheck: promisePause,
			Reason: reason + ", and what is left of the day's budget is promised to sessions under way"}
	}
	a := s.retry(k, reason)
	a.Allowance, a.Daily = allowed.Allowance, allowed.daily
	return a
}

// leaveToAnother is to wait where another machine of this login has the session that an act would
// take. What there is to show of the head is that machine's to tell.
func (s State) leaveToAnother(a Action) (wait Action, left bool) {
	lease := s.Elsewhere.Sub(s.Now)
	if a.Kind != Review && a.Kind != Fix || lease <= 0 {
		return a, false
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: a.Reason + ", and another machine of " + s.Self + " is at it", Recheck: lease}, true
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
	return k == Review && latest != nil && latest.SHA != s.Head && latest.State == "APPROVED" && latest.Record.Verdict == verdict.Approve &&
		latest.Record.Lifted == nil
}

// escalate calls a person. It has no bound but its own waiting time: there is no other way to get help.
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
