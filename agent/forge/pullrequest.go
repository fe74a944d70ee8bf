package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PullRequest is everything a decision about one pull request rests on, read as one consistent snapshot: reviews,
// comments and checks all belong to the head named in it. Lists are complete and oldest first.
type PullRequest struct {
	Ref
	ID string // GraphQL node id
	// DatabaseID is GitHub's number for it among those of all repositories. It stays when the repository is renamed.
	DatabaseID int64
	Title      string
	Body       string // Markdown as its author wrote it: untrusted text
	URL        string // its page
	Author     User
	Open       bool
	Merged     bool
	Draft      bool
	Fork       bool   // the head lives in another repository
	Shared     bool   // the head is more than this pull request's: the default branch, or one that changes by reviewed pull requests only
	SameBranch string // another open pull request of the same branch, such as acme/app#7; empty if there is none
	InQueue    bool   // waits in a merge queue
	Queue      bool   // the base takes merges through a merge queue only
	Stacked    int    // the number of the open or merged pull request whose branch the base is; 0 for a base that more is merged into

	Enqueued Enqueuing   // how it came into the merge queue that it waits in; zero outside of one
	Dequeued []Enqueuing // the last 50 times that it was taken out of one, by whom and when

	MaintainerCanModify bool // the author lets maintainers push to the head branch of a fork

	Head Branch // what is proposed
	Base Branch // where it is to go; SHA is the branch's tip now, and empty when the branch is gone

	Labels    []string
	Labelled  []Labelling // when labels were put on or taken off
	Requested []string    // logins of the people and bots whose review is asked for; teams are not among them
	Reviews   []SubmittedReview
	Comments  []Comment  // comments on the conversation, not on lines
	Threads   []Thread   // conversations on lines or files of the diff, resolved ones too
	Deleted   []Deletion // the last 50 comments on the conversation that were deleted
	Issues    []Issue    // what merging it would close, 10 at most; an issue that the token cannot see is not listed
	Checks    []Check    // check runs and commit statuses of Head.SHA, and one more where a workflow has yet to report
	Statuses  []Check    // the agents' own statuses of Head.SHA, or what others report under their names; they are no Checks

	Mergeable Mergeable
	Behind    bool   // the base's protection wants it merged in first; GitHub says so only once nothing else blocks
	Blocked   bool   // the base's rules do not let it be merged: a check or a review is missing, though none may be listed
	MergeSHA  string // the commit that merged it, empty before
	MergedBy  User   // zero before

	CreatedAt time.Time
	UpdatedAt time.Time
	// RenewedAt is when it was last reopened, made ready, pointed at another base, pushed to by force or taken out of a
	// merge queue; zero if it never was.
	RenewedAt time.Time
	// BaseReplaced is when its base was last another one: pointed at another branch, pushed to by force or deleted; zero if
	// it never was. HeadForced are the last 100 pushes by force to its head, the oldest first.
	BaseReplaced time.Time
	HeadForced   []ForcePush
	// Orphaned is when GitHub closed it because its base branch was deleted; zero while it is open, and if it was closed
	// otherwise.
	Orphaned         time.Time
	MergedAt         *time.Time // nil before
	Viewer           string     // login the token belongs to
	ViewerPermission Permission // what that login may do here
}

// LabelledAt is when a label that is there was last put on, and zero for one that is not there.
func (pr PullRequest) LabelledAt(label string) time.Time {
	for _, l := range slices.Backward(pr.Labelled) {
		if strings.EqualFold(l.Label, label) {
			if !l.Added {
				return time.Time{}
			}
			return l.At
		}
	}
	return time.Time{}
}

// Unresolved counts the threads that are not resolved. The rules of the base may want all resolved, which GitHub shows to administrators
// only.
func (pr PullRequest) Unresolved() (n int) {
	for _, t := range pr.Threads {
		if !t.Resolved {
			n++
		}
	}
	return n
}

// Labelling is a label that was put on or taken off.
type Labelling struct {
	Label string
	Added bool // false when it was taken off
	By    User
	At    time.Time
}

// ForcePush is a push that took commits off a branch.
type ForcePush struct {
	By  User
	At  time.Time
	SHA string // the commit that it left at the tip; empty when GitHub no longer has it
}

// Enqueuing is who put a pull request into a merge queue or took it out, and when. What a queue itself takes out, because
// a check failed there or it conflicts, is taken out by a bot
// (https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue).
type Enqueuing struct {
	By User
	At time.Time
}

// Branch is one end of a pull request.
type Branch struct {
	Repo Repo   // zero when the repository was deleted
	Name string // without refs/heads/
	SHA  string
}

// User is an account. Login of an app's bot always carries its "[bot]" suffix, and that of a deleted account is
// "ghost", as GitHub's pages show them.
type User struct {
	Login string
	Bot   bool
	ID    int64 // GitHub's number for it, that of its bot for an App; 0 where it was not asked for
}

// Is reports whether two are the same account, as far as their logins tell: not every answer of GitHub's has more.
func (u User) Is(other User) bool { return u.Login == other.Login && u.Bot == other.Bot }

// Review states, as in SubmittedReview.State.
const (
	Approved         = "APPROVED"
	ChangesRequested = "CHANGES_REQUESTED"
	Commented        = "COMMENTED"
	Dismissed        = "DISMISSED"
)

// SubmittedReview is a review that stands on a pull request. A pending one is not listed.
type SubmittedReview struct {
	ID     int64
	Author User
	// ByPerson: the author is a user's account, not an app's bot nor a deleted one. GitHub cannot tell a person from
	// a program that holds a user's token: an agent's own login is "a person" too.
	ByPerson bool
	// CanPush: the author may push to the repository now, even if they could not when they wrote it
	// (https://docs.github.com/graphql/reference/objects#pullrequestreview, authorCanPushToRepository).
	CanPush     bool
	State       string // APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED
	Body        string // untrusted text
	SHA         string // the commit reviewed; empty when GitHub no longer has it
	SubmittedAt time.Time
	EditedAt    *time.Time // nil when the body is as first submitted
	EditedBy    User       // who edited it last; zero if it was never edited
	Node        string     // GraphQL node id, for Client.Revisions
	URL         string
}

// ReviewRemark is one comment that a review makes on lines of the diff.
type ReviewRemark struct {
	Path string
	Line int    // 1-based; of the reviewed commit where the head no longer has the line
	Side string // RIGHT, or LEFT for a deleted line
	Body string // untrusted text
	URL  string
}

// AllComments is all that was said on the pull request, the oldest first: the comments, the texts of reviews, and what stands in
// threads.
func (pr PullRequest) AllComments() []Comment {
	all := slices.Clone(pr.Comments)
	for _, r := range pr.Reviews {
		all = append(all, Comment{ID: r.ID, Author: r.Author, ByPerson: r.ByPerson, InReview: true, Body: r.Body, CreatedAt: r.SubmittedAt,
			EditedAt: r.EditedAt, EditedBy: r.EditedBy, Node: r.Node, URL: r.URL})
	}
	for _, t := range pr.Threads {
		for _, c := range t.Comments {
			all = append(all, c.Comment)
		}
	}
	slices.SortStableFunc(all, func(a, b Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}

// Comment is a comment on the conversation, or of PullRequest.Said something else that was said.
type Comment struct {
	ID       int64
	Author   User
	ByPerson bool // as in SubmittedReview
	InReview bool // it is the text of a review, or stands on a line; never so in PullRequest.Comments
	// OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE …; says nothing certain about write access, for which there is Client.Permission
	Association string
	Body        string // untrusted text
	CreatedAt   time.Time
	EditedAt    *time.Time // nil when never edited
	EditedBy    User       // who edited it last; zero if it was never edited
	Node        string     // GraphQL node id, for Client.Revisions
	URL         string
}

// EditedByAnother reports whether the last edit of what was said was not its author's.
func (c Comment) EditedByAnother() bool { return c.EditedAt != nil && !c.EditedBy.Is(c.Author) }

// Deletion is a comment that was deleted. What it said GitHub does not tell.
type Deletion struct {
	By       User // who deleted it
	Author   User // whose it was
	ByPerson bool // of its author, as in SubmittedReview
	At       time.Time
}

// Thread is a conversation on a place of the diff, begun by a review's comment.
type Thread struct {
	ID         string // GraphQL node id, for Resolver
	Path       string
	Line       int // 1-based; of the reviewed commit where the head no longer has the line; 0 for the file as a whole
	Resolved   bool
	ResolvedBy User            // zero while open
	Outdated   bool            // the head changed the lines that it is about
	Comments   []ThreadComment // oldest first; the first of them began the thread
}

// ThreadComment is one turn of a Thread.
type ThreadComment struct {
	Comment
	Review int64 // the review it belongs to: of the first comment, the one that began the thread
}

// Issue is one that a pull request says it closes.
type Issue struct {
	Repo   Repo
	Number int
	Title  string // untrusted text
	Body   string // untrusted text
	Open   bool
	Labels []string // the first 20
	URL    string
}

// CheckKind tells GitHub's two ways of reporting on a commit apart.
type CheckKind string

// The kinds of check.
const (
	CheckRun CheckKind = "check-run" // https://docs.github.com/rest/checks
	Status   CheckKind = "status"    // https://docs.github.com/rest/commits/statuses
)

// CheckState is the outcome of a check, one scale for both kinds.
type CheckState string

// The outcomes. A required check is satisfied by success, neutral and skipped
// (https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks).
// Timeouts and outcomes that GitHub may add later count as failure: a test that hangs is the change's own.
const (
	CheckPending        CheckState = "pending"
	CheckSuccess        CheckState = "success"
	CheckFailure        CheckState = "failure"
	CheckNeutral        CheckState = "neutral"
	CheckSkipped        CheckState = "skipped"
	CheckCancelled      CheckState = "cancelled"
	CheckActionRequired CheckState = "action_required"
	CheckStartupFailure CheckState = "startup_failure" // a workflow could not be started
	CheckStale          CheckState = "stale"           // GitHub gave up waiting for its end
)

// Check is one check run or commit status of the head.
type Check struct {
	Name     string
	App      string // slug of the app that reports it; empty for a status
	AppID    int64  // GitHub's number for that app, which stays when it is renamed
	By       User   // who reports a status; zero for a check run
	Kind     CheckKind
	State    CheckState
	Required bool      // branch protection demands it
	At       time.Time // when it last began or ended; zero where GitHub does not say
	URL      string
	Summary  string // one line: the check run's title, the status's description; untrusted text
}

// Source is the app or the account that reports a check, by GitHub's number for it: slugs and logins can become others'.
func (c Check) Source() string {
	if c.Kind == Status {
		return fmt.Sprintf("account %d", c.By.ID)
	}
	return fmt.Sprintf("app %d", c.AppID)
}

// Mergeable is GitHub's answer whether head merges into base without conflict. It is clean only where GitHub has also
// said what the base's rules make of it: PullRequest.Behind and Blocked are then answers, and mean nothing before.
type Mergeable string

// The answers. GitHub computes the answer in the background: unknown means ask again in a moment
// (https://docs.github.com/rest/pulls/pulls#get-a-pull-request).
const (
	MergeableUnknown     Mergeable = "unknown"
	MergeableClean       Mergeable = "clean"
	MergeableConflicting Mergeable = "conflicting"
)

// Permission is what a login may do in a repository: admin, maintain, write, triage, read or none.
type Permission string

// Unseen is what a login may do whose rights GitHub does not show to this one. It includes nothing.
const Unseen Permission = "not visible"

// Administers reports whether the permission includes maintaining the repository, as maintainers and admins may.
func (p Permission) Administers() bool { return p == "admin" || p == "maintain" }

// CanWrite reports whether the permission includes pushing, which is what makes a person's word count here.
func (p Permission) CanWrite() bool { return p == "admin" || p == "maintain" || p == "write" }

// Includes reports whether the permission includes a right: write, maintain or admin. A right of any other name takes
// admin.
func (p Permission) Includes(right string) bool {
	switch right {
	case "write":
		return p.CanWrite()
	case "maintain":
		return p.Administers()
	}
	return p == "admin"
}

// Listed is a pull request in a list of open ones: enough to see whether it has to be looked at.
type Listed struct {
	Ref
	Title     string
	HeadSHA   string
	Draft     bool
	Author    User
	Requested []string // logins, as in PullRequest.Requested
	UpdatedAt time.Time
}

// FailedCheck is a check that ended and did not pass, with what its author was told.
type FailedCheck struct {
	Name    string
	URL     string
	Summary string // of a check run, its conclusion comes first; about 16 KiB of untrusted text at most
	Text    string // annotations, report and the end of the log: about 100 KiB of untrusted text at most, without secrets
}
