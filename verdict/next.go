package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"
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
// is closed.
const (
	Skip     Kind = "skip"
	Wait     Kind = "wait"
	Done     Kind = "done"
	Review   Kind = "review"
	Fix      Kind = "fix"
	Merge    Kind = "merge"
	Escalate Kind = "escalate"
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
}

// Checks is the state of all of a head's checks taken together.
type Checks string

// The states of checks. ChecksNone means that nothing has reported, which right
// after a push is as likely to be a CI that has not begun as one that is not
// there.
const (
	ChecksNone    Checks = "none"
	ChecksPending Checks = "pending"
	ChecksFailed  Checks = "failed"
	ChecksGreen   Checks = "green"
)

// Mergeable is GitHub's own opinion on whether the head merges into the base.
type Mergeable string

// The values of Mergeable. Unknown means that GitHub is still computing it.
const (
	MergeableUnknown Mergeable = "unknown"
	MergeableClean   Mergeable = "clean"
	MergeableBehind  Mergeable = "behind"
	MergeableDirty   Mergeable = "conflicting"
)

// Opinion is one review that stands on the pull request.
type Opinion struct {
	By string
	// SHA is the commit that was reviewed.
	SHA string
	// State is GitHub's, in upper case: APPROVED, CHANGES_REQUESTED, COMMENTED,
	// DISMISSED.
	State string
	// Record is nil for a review that this product did not write.
	Record *Record
	// Edited says that the body was changed after it was posted.
	Edited bool
	// At is when it was submitted.
	At time.Time
}

// State is what is true of a pull request at one moment, as read from GitHub,
// together with the settings and the history of this machine that bear on it.
type State struct {
	Role Role
	// Self is the login that this agent acts as.
	Self string

	Open   bool
	Draft  bool
	Fork   bool
	Author string
	Head   string
	// BaseBranch is the branch that it is to be merged into. The same head against
	// another base is another change.
	BaseBranch string

	// Requested says that this login is asked to review: by request, by an
	// earlier review of its own, or because its configuration says all.
	Requested bool
	// Asked says that a request for its review stands right now.
	Asked bool
	// NeedsHuman is the label that stops both roles, Held the one that stops the
	// author's side.
	NeedsHuman bool
	Held       bool
	// EscalatedAt is when a person was last called, or zero. Taking the label off
	// again resumes the loop with a fresh count of rounds.
	EscalatedAt time.Time

	Mergeable Mergeable
	Checks    Checks
	// Opinions are all reviews, oldest first.
	Opinions []Opinion

	// Reviewers are the logins whose records count as verdicts.
	Reviewers []string
	// AutoMerge, RequireChecks, MaxRounds and MaxAttempts are settings; 0 is no
	// bound.
	AutoMerge     bool
	RequireChecks bool
	MaxRounds     int
	MaxAttempts   int
	// Attempts counts the acts on this very head that failed on this machine since
	// one succeeded; Failed is the last of them.
	Attempts int
	Failed   Kind
	// RetryIn is how long that act has to wait before it is tried again.
	RetryIn time.Duration
}

// recheck is how soon to look again at what GitHub computes in the background
// without ever sending an event for it.
const recheck = 2 * time.Second

// Next decides what the agent does now. It is pure and fails closed: whatever
// it does not understand ends in Wait or Escalate, never in Merge.
func Next(s State) Action {
	switch {
	case !s.Open:
		return s.act(Done, "the pull request is closed")
	case s.Self == "" || s.Author == "" || s.Head == "":
		return s.act(Wait, "GitHub's answer is incomplete")
	case s.Role == Reviewer:
		return nextReview(s)
	case s.Role == Author:
		return nextFix(s)
	}
	return s.act(Wait, "the agent has no role")
}

func nextReview(s State) Action {
	switch {
	case sameLogin(s.Author, s.Self):
		return s.act(Skip, "GitHub lets nobody review their own pull request")
	case !s.Requested:
		return s.act(Skip, "nobody asked "+s.Self+" to review it")
	case s.Draft:
		return s.act(Wait, "it is a draft")
	case s.NeedsHuman:
		return s.act(Wait, "it waits for a person")
	}
	mine := func(login string) bool { return sameLogin(login, s.Self) }
	for _, o := range s.Opinions {
		switch {
		case !mine(o.By) || !s.concerns(o):
		case s.stands(o):
			return s.act(Wait, "this head is reviewed")
		case !s.Asked:
			return s.act(Wait, "its review was dismissed or edited; request it again for another one")
		}
	}
	return s.spend(Review, "this head is not reviewed yet", s.rounds(mine))
}

func nextFix(s State) Action {
	switch {
	case !sameLogin(s.Author, s.Self):
		return s.act(Skip, "it is not "+s.Self+"'s own")
	case s.Draft:
		return s.act(Wait, "it is a draft")
	case s.NeedsHuman:
		return s.act(Wait, "it waits for a person")
	case s.Held:
		return s.act(Wait, "a label holds it")
	case s.Fork:
		return s.act(Wait, "pull requests from forks are left to people")
	}
	verdict, doubtful := s.verdict()
	rounds := s.rounds(s.trusts)
	switch {
	case doubtful:
		return s.escalate("the review of this head was edited or does not agree with itself; request it again for another one")
	case verdict == RequestChanges:
		return s.spend(Fix, "the review requests changes", rounds)
	case verdict != Approve:
		return s.act(Wait, "this head is not reviewed yet")
	case s.objector() != "":
		return s.act(Wait, s.objector()+" still requests changes")
	case s.Mergeable == MergeableDirty:
		return s.spend(Fix, "it conflicts with its base", rounds)
	case s.Checks == ChecksFailed:
		return s.spend(Fix, "a check failed", rounds)
	case !s.AutoMerge:
		return s.act(Wait, "it is approved and waits for its author to merge it")
	case s.Checks == ChecksPending:
		return s.act(Wait, "checks are running")
	case s.Checks == ChecksNone && s.RequireChecks:
		return s.act(Wait, "no check has reported on this head")
	case s.Checks != ChecksGreen && s.Checks != ChecksNone:
		return s.act(Wait, "the state of the checks is unknown")
	case s.Mergeable == MergeableBehind:
		return s.spend(Fix, "it is behind its base, which is protected", rounds)
	case s.Mergeable != MergeableClean:
		return Action{Kind: Wait, SHA: s.Head, Reason: "GitHub is computing whether it merges", Recheck: recheck}
	}
	return s.spend(Merge, "it is approved and green", 0)
}

// verdict is what the configured reviewers say of this very head against this
// very base: of each the latest word, the strictest winning. A review that was
// edited, or whose state, record and commit disagree, is doubtful.
func (s State) verdict() (v Verdict, doubtful bool) {
	latest := map[string]Opinion{}
	for _, o := range s.Opinions {
		if s.trusts(o.By) && s.concerns(o) && o.State != dismissed {
			latest[strings.ToLower(o.By)] = o
		}
	}
	for _, o := range latest {
		switch {
		case !s.stands(o):
			doubtful = true
		case o.Record.Verdict == RequestChanges:
			v = RequestChanges
		case v == "":
			v = Approve
		}
	}
	return v, doubtful
}

const dismissed = "DISMISSED"

// concerns reports whether a review of ours is about this head and base.
func (s State) concerns(o Opinion) bool {
	return o.Record != nil && o.SHA == s.Head && o.Record.BaseBranch == s.BaseBranch
}

// stands reports whether a review that concerns this head is as it was posted.
func (s State) stands(o Opinion) bool {
	agrees := o.State == "APPROVED" && o.Record.Verdict == Approve || o.State == "CHANGES_REQUESTED" && o.Record.Verdict == RequestChanges
	return agrees && !o.Edited && o.Record.Head == s.Head
}

// rounds counts the heads that the logins chosen by by have reviewed since a
// person was last called.
func (s State) rounds(by func(login string) bool) int {
	heads := map[string]bool{}
	for _, o := range s.Opinions {
		if by(o.By) && o.Record != nil && (s.EscalatedAt.IsZero() || o.At.After(s.EscalatedAt)) {
			heads[o.SHA] = true
		}
	}
	return len(heads)
}

// objector is somebody whose latest word asks for changes, whichever head it was
// said of. As on GitHub itself, a mere comment takes nothing back. A person and
// the agent under the same login are two: neither takes back what the other said.
func (s State) objector() string {
	type voice struct {
		login string
		agent bool
	}
	latest := map[voice]string{}
	for _, o := range s.Opinions {
		switch o.State {
		case "APPROVED", "CHANGES_REQUESTED", dismissed:
			latest[voice{strings.ToLower(o.By), o.Record != nil && s.trusts(o.By)}] = o.State
		}
	}
	var objectors []string
	for v, state := range latest {
		if state == "CHANGES_REQUESTED" {
			objectors = append(objectors, v.login)
		}
	}
	if len(objectors) == 0 {
		return ""
	}
	return slices.Min(objectors)
}

func (s State) trusts(login string) bool {
	if sameLogin(login, s.Author) {
		return false
	}
	return slices.ContainsFunc(s.Reviewers, func(r string) bool { return sameLogin(r, login) })
}

// sameLogin compares logins as GitHub does, ignoring case.
func sameLogin(a, b string) bool { return strings.EqualFold(a, b) }

// spend is act for an action that can fail again and again: bounded in rounds and
// attempts, beyond which a person has to look.
func (s State) spend(k Kind, reason string, rounds int) Action {
	switch {
	case s.MaxRounds > 0 && rounds >= s.MaxRounds:
		return s.escalate(fmt.Sprintf("%s, and %d rounds have not been enough", reason, rounds))
	case s.MaxAttempts > 0 && s.Attempts >= s.MaxAttempts:
		return s.escalate(fmt.Sprintf("%s, and %d attempts on this head came to nothing", reason, s.Attempts))
	}
	return s.retry(k, reason)
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
