package decide

import (
	"time"

	"touchstone/verdict"
)

// Checks is the combined state of all checks of a head.
type Checks string

// The states of checks. ChecksNone means that nothing has reported: there may be no CI or, right after a
// push, CI may not have started yet.
const (
	ChecksNone    Checks = "none"
	ChecksPending Checks = "pending"
	ChecksFailed  Checks = "failed"
	ChecksGreen   Checks = "green"
)

// Mergeable is GitHub's opinion on whether the head merges into the base.
type Mergeable string

// The values of Mergeable. Unknown means that GitHub is still computing it. Blocked means that a check or a
// review that the base branch requires is missing.
const (
	MergeableUnknown Mergeable = "unknown"
	MergeableClean   Mergeable = "clean"
	MergeableBehind  Mergeable = "behind"
	MergeableDirty   Mergeable = "conflicting"
	MergeableBlocked Mergeable = "blocked"
)

// Opinion is one review on the pull request.
type Opinion struct {
	// Review is GitHub's id of the review.
	Review int64
	By     string
	// SHA is the commit that was reviewed.
	SHA string
	// State is GitHub's state in upper case: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED.
	State string
	// Record is nil for a review that this product did not write.
	Record *verdict.Record
	// Edited says that the body was changed after the review was posted.
	Edited bool
	// Doubt says, as a sentence fragment, why a review by a reviewer's login is not believed although it is
	// no person's, for instance because its record was removed. It is blank if there is no doubt. If it is
	// set, Record is nil.
	Doubt string
	// Rebased says that the base branch was rewritten since: it no longer contains the commit that the head
	// was reviewed against.
	Rebased bool
	// Restated says that the title or the description changed since the review.
	Restated bool
	// Outdated says that merging the head would now change the base in another way than the review saw, or
	// that this cannot be determined.
	Outdated bool
	// Person says that no bot wrote it. CanPush says that its author may push.
	Person, CanPush bool
	// Independent says that its author is known to have written, committed, co-authored and pushed no part of
	// the pull request.
	Independent bool
	// At is when it was submitted.
	At time.Time
}

// State is everything about a pull request at one moment that a decision needs: what was read from GitHub,
// and this machine's settings and history.
type State struct {
	Role Role
	// Self is the login that this agent acts as.
	Self string

	Open  bool
	Draft bool
	// Fork says that its branch is in another repository, to which no agent pushes.
	Fork bool
	// Shared says that other work is based on its branch.
	Shared bool
	// SameBranch is another open pull request of the same branch, empty if there is none. A push for one of
	// them also changes the other, for instance when it merges the base.
	SameBranch string
	Author     string
	Head       string
	// BaseBranch is the branch to merge into. The same head with another base is a different change.
	BaseBranch string
	// BaseReplaced is when the base last became a different one: another branch, or the same branch after
	// commits were removed from it. It is zero if that never happened. Forced is the last force push to the
	// head.
	BaseReplaced time.Time
	Forced       Replacement
	// Orphaned is when GitHub closed the pull request because its base branch was deleted. It is zero if the
	// pull request is open or was closed for another reason.
	Orphaned time.Time

	// Unread says, as a sentence fragment, why the pull request could not be read completely, or is blank.
	// The missing part could change any decision.
	Unread string

	// Requested says that a review by this login is wanted or, for an author's agent, by one of the
	// reviewers: by a request, because they reviewed it before, or because the configuration says all.
	Requested bool
	// Asked says that a request for this login's review is pending now. Asking are the other requested logins
	// that may push.
	Asked  bool
	Asking []string
	// NeedsHuman is the label that stops both roles. HoldLabel is the label that stops the author's agent, and empty if the
	// pull request does not have it.
	NeedsHuman bool
	HoldLabel  string
	// LabelledAt is when NeedsHuman was set, zero if that is not known.
	LabelledAt time.Time
	// EscalatedAt is when a person was last called, CalledAt when one was called for this very head and base;
	// zero if never. When the label is removed, the loop resumes and counts its rounds anew.
	EscalatedAt, CalledAt time.Time
	// CalledFor says, as a sentence fragment, what the person who was last called must do; blank if that is
	// not known.
	CalledFor string
	// Orders are people's orders, oldest first, as [verdict.Orders] returns them.
	Orders []verdict.Command
	// Unclear are the orders, oldest first, that cannot be followed and have no answer yet.
	Unclear []verdict.Unclear
	// Commits are the commits of the pull request, oldest first. Only a Review or a Fix needs them. If they
	// were not read, the fixes in them are unknown.
	Commits []verdict.Commit
	// Queue says that the base takes merges through a merge queue only. InQueue says that the pull request is
	// in that queue, Enqueued that this machine put this very head there. EnqueuedAt is when any login put it
	// there.
	Queue, InQueue, Enqueued bool
	EnqueuedAt               time.Time
	// Elsewhere is until when another machine of this login has claimed the session on this head, or zero. A
	// claim expires, so a crash of that machine blocks nothing for longer.
	Elsewhere time.Time
	// Fixing is until when the author's agent has claimed the session on this head, or zero.
	Fixing time.Time
	// Notices are what this login has told the author.
	Notices []Notice

	Mergeable Mergeable
	Checks    Checks
	// Failing and Running are the names of the checks that count and have failed, or have not finished.
	Failing, Running []string
	// Stuck says of one of those that have not finished why it may never do so by itself, as a sentence fragment; blank if
	// nothing speaks for that.
	Stuck string
	// Absent are the names of checks that the base branch is known to require and that have not reported.
	Absent []string
	// Unknown is a check that passed and does not count: its source never reported on the base, or is the
	// author. It is blank if a check counts, or none passed.
	Unknown string
	// Unbegun are the names of checks that reported on an earlier head or on the base, but not on this head.
	// They are only set if the settings name no checks and none is required. FailedBefore is one of them that
	// failed on the earlier head. Silent is one of them whose source has shown no sign of having seen this
	// head. Either may be blank.
	Unbegun              []string
	FailedBefore, Silent string
	// BaseFails is one of the failed checks, if all of them also fail on the tip of the base. BaseFailed is
	// one of them, if they failed on the base commit of the approval and the base has moved on since.
	// Otherwise they are blank.
	BaseFails, BaseFailed string
	// Conversations counts the unresolved conversations on lines of the change. A base branch may require
	// that all are resolved.
	Conversations int
	// Opinions are all reviews, oldest first.
	Opinions []Opinion

	// Reviewers are the logins whose records count as verdicts.
	Reviewers []string
	// Manual is the reason why the author must merge; it is blank if the agent merges.
	Manual Left
	// Nits is the setting to apply the edits of an approval's nits.
	Nits bool
	// Discussed are the ids of the findings whose conversation was resolved, or has a person's reply.
	Discussed []string
	// RequireChecks, MaxRounds and MaxAttempts are settings; 0 means no bound.
	RequireChecks bool
	MaxRounds     int
	MaxAttempts   int
	Budgets       Budgets
	// Pause is how long the author's agent waits after a person pushed; 0 means not at all.
	Pause time.Duration

	// Now is the time at which all this was read, by GitHub's clock like all other times here. RenewedAt is
	// when the pull request last started over, or zero: it was reopened, made ready for review, given another
	// base, returned by a queue, or freed of one of our labels. ReportedAt is when a check of the head last
	// started or finished, or zero.
	Now, RenewedAt, ReportedAt time.Time
	// Rested says that the label was set because a day's budget was spent, and that this day is over.
	Rested bool
	History
}

// History is what this machine remembers about earlier acts and states.
type History struct {
	// SeenAt is when the present head replaced another one. UnknownSince is since when [State.Mergeable] has
	// been unknown. AwaitedSince is since when the head has waited for the same thing from its reviewer. Each
	// may be zero.
	SeenAt, UnknownSince, AwaitedSince time.Time
	// NitsTried says that this machine has tried the edits of the present head's approval.
	NitsTried bool
	// Attempts counts the acts on this very head that failed on this machine since the last success. Failed
	// is the last of them.
	Attempts int
	Failed   Kind
	// Permanent says that the failed act would fail again.
	Permanent bool
	// RetryIn is how long the failed act must wait before the next attempt.
	RetryIn time.Duration
	// Queued counts how often a merge queue returned the pull request since [State.Since].
	Queued int
	// Wasted is the cost of this machine's failed acts on the pull request since [State.Since]. Today is the
	// cost of all of this machine's acts today, in US dollars.
	Wasted verdict.Cost
	Today  float64
	// Promised is how much of the day's budget the sessions that run on this machine may still spend, in US
	// dollars.
	Promised float64
}
