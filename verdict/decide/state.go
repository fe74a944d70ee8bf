package decide

import (
	"time"

	"touchstone/verdict"
)

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

// The values of Mergeable. Unknown means that GitHub is still computing it, blocked that
// a check or a review is missing which the base branch asks for.
const (
	MergeableUnknown Mergeable = "unknown"
	MergeableClean   Mergeable = "clean"
	MergeableBehind  Mergeable = "behind"
	MergeableDirty   Mergeable = "conflicting"
	MergeableBlocked Mergeable = "blocked"
)

// Opinion is one review that stands on the pull request.
type Opinion struct {
	// Review is GitHub's number for it.
	Review int64
	By     string
	// SHA is the commit that was reviewed.
	SHA string
	// State is GitHub's, in upper case: APPROVED, CHANGES_REQUESTED, COMMENTED,
	// DISMISSED.
	State string
	// Record is nil for a review that this product did not write.
	Record *verdict.Record
	// Edited says that the body was changed after it was posted.
	Edited bool
	// Doubt says, as a sentence part about it, why a review of a reviewer's login that is no
	// person's cannot be believed, such as that its record was taken out; blank if it can. Its
	// Record is then nil.
	Doubt string
	// Rebased says that the base branch was rewritten since: it no longer holds the
	// commit that the head was reviewed against.
	Rebased bool
	// Restated says that the title or the description is another one than the review saw.
	Restated bool
	// Outdated says that merging the head would change the base otherwise than the review saw,
	// or that what it would change cannot be told.
	Outdated bool
	// Person says that no bot wrote it, CanPush that its author may push.
	Person, CanPush bool
	// Independent says that its author is known to have written, committed, co-authored and
	// pushed none of the pull request.
	Independent bool
	// At is when it was submitted.
	At time.Time
}

// State is what is true of a pull request at one moment, as read from GitHub,
// together with the settings and the history of this machine that bear on it.
type State struct {
	Role Role
	// Self is the login that this agent acts as.
	Self string

	Open  bool
	Draft bool
	// Fork says that its branch is in another repository, which no agent pushes to.
	Fork bool
	// Shared says that its branch is one that others build on.
	Shared bool
	// SameBranch is another open pull request of the same branch, empty if there is none. A push for
	// one of them changes the other too, for instance by merging its base.
	SameBranch string
	Author     string
	Head       string
	// BaseBranch is the branch that it is to be merged into. The same head against
	// another base is another change.
	BaseBranch string
	// BaseReplaced is when the base was last another one: another branch, or the same with
	// commits that were taken off it; zero if it never was. Forced is the last push by force to
	// the head.
	BaseReplaced time.Time
	Forced       Replacement
	// Orphaned is when GitHub closed it because its base branch was deleted; zero if it is open
	// or was closed otherwise.
	Orphaned time.Time

	// Unread is, as a sentence part about it, why not all of the pull request was read, or
	// blank: what is missing could turn every decision.
	Unread string

	// Requested says that this login is asked to review, or of an author that one of the
	// reviewers is: by request, by an earlier review of theirs, or because the configuration
	// says all.
	Requested bool
	// Asked says that a request for its review stands right now, Asking whose else are requested that
	// may push.
	Asked  bool
	Asking []string
	// NeedsHuman is the label that stops both roles, Held the one that stops the
	// author's side.
	NeedsHuman bool
	Held       bool
	// LabelledAt is when NeedsHuman was put on, zero if that is not known.
	LabelledAt time.Time
	// EscalatedAt is when a person was last called, CalledAt when to this very head and base,
	// or zero. Taking the label off again resumes the loop with a fresh count of
	// rounds.
	EscalatedAt, CalledAt time.Time
	// CalledFor is, as a sentence part, what the person who was last called has to do; blank if that is not known.
	CalledFor string
	// Orders are what people have ordered, oldest first, as [Orders] returns it.
	Orders []verdict.Command
	// Unclear are orders that cannot be followed and were not answered yet, oldest first.
	Unclear []verdict.Unclear
	// Commits are its commits, oldest first. Only a Review or a Fix takes them; where
	// they were not read, as little as they would show is known.
	Commits []verdict.Commit
	// Queue says that its base takes merges through a merge queue only, InQueue that it
	// waits there, Enqueued that this machine has put this very head there; EnqueuedAt is when
	// it was put there, by any login.
	Queue, InQueue, Enqueued bool
	EnqueuedAt               time.Time
	// Elsewhere is until when another machine of this login has claimed the session on this head,
	// or zero. A claim ends by itself, so that the death of that machine keeps nothing waiting.
	Elsewhere time.Time
	// Fixing is until when the agent of its author has claimed the session on this head, or zero.
	Fixing time.Time
	// Notices are what this login has told its author of.
	Notices []Notice

	Mergeable Mergeable
	Checks    Checks
	// Failing and Running are the names of the checks that count and failed, or have yet to end.
	Failing, Running []string
	// Unknown is a check that passed and does not count: it comes from somewhere that nothing
	// on the base came from, or from the author. Blank if one counts, or none passed.
	Unknown string
	// Unbegun are the names of checks that reported on an earlier head or on the base and not
	// on this head, where no check is named or required. FailedBefore is one of them that failed on
	// the earlier head, Silent one of them of which nothing shows that what reports it has seen
	// this head; or blank.
	Unbegun              []string
	FailedBefore, Silent string
	// BaseFails is one of the failed checks, where all of them fail on the base's tip too;
	// BaseFailed is one where they did so on the commit that the head was approved against, and
	// the base has moved on since. Either is blank if that is not so.
	BaseFails, BaseFailed string
	// Conversations counts those on lines of the change that are not resolved. A base branch
	// may want all of them resolved.
	Conversations int
	// Opinions are all reviews, oldest first.
	Opinions []Opinion

	// Reviewers are the logins whose records count as verdicts.
	Reviewers []string
	// Manual is why its author has to merge it; blank if the agent does.
	Manual Left
	// Nits is the setting to apply what the nits of an approval propose.
	Nits bool
	// Discussed are the ids of the findings whose conversations a person joined or that were
	// resolved.
	Discussed []string
	// RequireChecks, MaxRounds and MaxAttempts are settings; 0 is no bound.
	RequireChecks bool
	MaxRounds     int
	MaxAttempts   int
	Budgets       Budgets
	// Pause is how long the author's agent waits after a person pushed; 0 is not at all.
	Pause time.Duration

	// Now is the moment at which all this was read, by GitHub's clock as all other times here.
	// RenewedAt is when the pull request last began afresh, or zero: opened again, made ready,
	// given another base, given back by a queue, freed of a label of ours. ReportedAt is when a
	// check of the head last began or ended, or zero.
	Now, RenewedAt, ReportedAt time.Time
	// Rested says that the label is on because a day's budget was spent, and that the
	// day is over.
	Rested bool
	History
}

// History is what this machine remembers that bears on a decision.
type History struct {
	// SeenAt is when the present head came in the place of another, UnknownSince since when
	// [State.Mergeable] has been unknown, AwaitedSince since when the head has waited for the same
	// of its reviewer; or zero.
	SeenAt, UnknownSince, AwaitedSince time.Time
	// NitsTried says that the edits of the present head's approval were tried.
	NitsTried bool
	// Attempts counts the acts on this very head that failed on this machine since
	// one succeeded; Failed is the last of them.
	Attempts int
	Failed   Kind
	// Permanent says that it would fail again.
	Permanent bool
	// RetryIn is how long that act has to wait before it is tried again.
	RetryIn time.Duration
	// Queued counts how often a merge queue gave it back since [State.Since].
	Queued int
	// Wasted is what acts on it took on this machine since [State.Since] that came to
	// nothing; Today what all acts on this machine took today, in US dollars.
	Wasted verdict.Cost
	Today  float64
	// Promised is what sessions under way on this machine may still take of the day's
	// budget, in US dollars.
	Promised float64
}
