package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PullRequest is everything that a decision about one pull request is based on, read as one consistent
// snapshot: reviews, comments and checks all belong to the head in it. Lists are complete and oldest first.
type PullRequest struct {
	Ref
	ID string // GraphQL node id
	// DatabaseID is GitHub's global id of the pull request, which stays the same when the repository is
	// renamed.
	DatabaseID int64
	Title      string
	Body       string // Markdown as its author wrote it: untrusted text
	URL        string // its page
	Author     User
	Open       bool
	Merged     bool
	Draft      bool
	Fork       bool   // the head is in another repository
	Shared     bool   // the head is not this pull request's alone: it is the default branch, or changes by reviewed pull requests only
	SameBranch string // another open pull request of the same branch, such as acme/app#7; empty if there is none
	InQueue    bool   // it is in a merge queue
	Queue      bool   // the base takes merges through a merge queue only
	Stacked    int    // the number of the open or merged pull request whose branch the base is; 0 if other work is merged into the base too

	Enqueued Enqueuing   // how it was put into its present merge queue; zero outside of one
	Dequeued []Enqueuing // the last 50 times that it was taken out of a queue, by whom and when

	// Requires are the names of the checks that the base's protection requires, whether they have reported or not. Those of
	// rulesets are read by Client.RequiredChecks.
	Requires []string

	Head Branch // what is proposed
	Base Branch // where to merge it; SHA is the branch's present tip, empty if the branch is gone

	Labels    []string
	Labelled  []Labelling // when labels were added or removed
	Requested []string    // logins of the people and bots whose review is requested, without teams
	Reviews   []SubmittedReview
	Comments  []Comment  // comments on the conversation, not on lines
	Threads   []Thread   // conversations on lines or files of the diff, including resolved ones
	Deleted   []Deletion // the comments on the conversation that were deleted
	Issues    []Issue    // the issues that merging it would close, 10 at most, without those that the token cannot see
	Checks    []Check    // check runs and commit statuses of Head.SHA, and one more if a workflow has yet to report
	Statuses  []Check    // statuses of Head.SHA with the agents' names, by the agents or by others; they are not in Checks

	Mergeable Mergeable
	Behind    bool   // the base's protection requires the base to be merged in first; GitHub only says so once nothing else blocks
	Blocked   bool   // the base's rules block the merge: a check or a review is missing, though none may be listed
	MergeSHA  string // the merge commit, empty before the merge
	MergedBy  User   // zero before the merge

	CreatedAt time.Time
	UpdatedAt time.Time
	// RenewedAt is when it was last reopened, made ready for review, given another base, force-pushed or
	// taken out of a merge queue; zero if that never happened.
	RenewedAt time.Time
	// BaseReplaced is when its base last became a different one: another branch, a force push to the branch,
	// or its deletion; zero if that never happened. HeadForced are the last 100 force pushes to its head,
	// oldest first.
	BaseReplaced time.Time
	HeadForced   []ForcePush
	// Orphaned is when GitHub closed it because its base branch was deleted; zero while it is open, and if it
	// was closed for another reason.
	Orphaned         time.Time
	MergedAt         *time.Time // nil before the merge
	Viewer           string     // the login of the token
	ViewerPermission Permission // what that login may do here
}

// LabelledAt is when a present label was last added; zero if the label is not there.
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

// Unresolved counts the unresolved threads. The rules of the base may require that all are resolved; GitHub
// shows that only to administrators.
func (pr PullRequest) Unresolved() (n int) {
	for _, t := range pr.Threads {
		if !t.Resolved {
			n++
		}
	}
	return n
}

// Labelling is the addition or removal of a label.
type Labelling struct {
	Label string
	Added bool // false if it was removed
	By    User
	At    time.Time
}

// ForcePush is a push that removed commits from a branch.
type ForcePush struct {
	By  User
	At  time.Time
	SHA string // the tip after the push; empty if GitHub no longer has it
}

// Enqueuing says who put a pull request into a merge queue or took it out, and when. If the queue itself
// removes it, because a check failed or it conflicts, that is by a bot
// (https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue).
type Enqueuing struct {
	By User
	At time.Time
}

// Branch is a branch, such as one end of a pull request.
type Branch struct {
	Repo Repo   // zero if the repository was deleted
	Name string // without refs/heads/
	SHA  string
}

// User is an account. The login of an App's bot always has its "[bot]" suffix, and that of a deleted account
// is verdict.DeletedLogin.
type User struct {
	Login string
	Bot   bool
	ID    int64 // GitHub's id; for an App, that of its bot; 0 if it was not read
}

// Is reports whether two users are the same account, judged by their logins: not every answer of GitHub has
// more.
func (u User) Is(other User) bool { return u.Login == other.Login && u.Bot == other.Bot }

// Review states, as in SubmittedReview.State.
const (
	Approved         = "APPROVED"
	ChangesRequested = "CHANGES_REQUESTED"
	Commented        = "COMMENTED"
	Dismissed        = "DISMISSED"
)

// SubmittedReview is a submitted review on a pull request. Pending reviews are not listed.
type SubmittedReview struct {
	ID     int64
	Author User
	// ByPerson says that the author is a user's account, and not an App's bot or a deleted account. GitHub
	// cannot tell a person from a program that has a user's token: an agent's own login counts as a person
	// too.
	ByPerson bool
	// CanPush says that the author may push to the repository now, even if not when the review was written
	// (https://docs.github.com/graphql/reference/objects#pullrequestreview, authorCanPushToRepository).
	CanPush     bool
	State       string // APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED
	Body        string // untrusted text
	SHA         string // the reviewed commit; empty if GitHub no longer has it
	SubmittedAt time.Time
	EditedAt    *time.Time // nil if the body was never edited
	EditedBy    User       // the last editor; zero if it was never edited
	Node        string     // GraphQL node id, for Client.Revisions
	URL         string
}

// AllComments are all texts on the pull request, oldest first: the comments, the texts of reviews, and the
// comments in threads.
func (pr PullRequest) AllComments() []Comment {
	all := slices.Clone(pr.Comments)
	for _, r := range pr.Reviews {
		all = append(all, Comment{ID: r.ID, Author: r.Author, ByPerson: r.ByPerson, InReview: true, Body: r.Body, CreatedAt: r.SubmittedAt,
			EditedAt: r.EditedAt, EditedBy: r.EditedBy, Node: r.Node, URL: r.URL})
	}
	for _, t := range pr.Threads {
		all = append(all, t.Comments...)
	}
	slices.SortStableFunc(all, func(a, b Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}

// Comment is a comment on the conversation. In PullRequest.AllComments it may also be another text.
type Comment struct {
	ID       int64
	Author   User
	ByPerson bool // as in SubmittedReview
	InReview bool // it is the text of a review or is in a thread; never true in PullRequest.Comments
	// Association is OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE … It does not prove write access; for
	// that there is Client.Permission.
	Association string
	Body        string // untrusted text
	CreatedAt   time.Time
	EditedAt    *time.Time // nil if it was never edited
	EditedBy    User       // the last editor; zero if it was never edited
	Node        string     // GraphQL node id, for Client.Revisions
	URL         string
}

// EditedByAnother reports whether somebody else than the author made the last edit.
func (c Comment) EditedByAnother() bool { return c.EditedAt != nil && !c.EditedBy.Is(c.Author) }

// Deletion is a deleted comment. GitHub does not tell its text.
type Deletion struct {
	By       User // who deleted it
	Author   User // who wrote it
	ByPerson bool // about the author, as in SubmittedReview
	At       time.Time
}

// Thread is a conversation on a place of the diff, started by a review's comment.
type Thread struct {
	ID         string // GraphQL node id, for Resolver
	Resolved   bool
	ResolvedBy User      // zero while open
	Comments   []Comment // oldest first; the first one started the thread
}

// Issue is an issue that a pull request says it closes.
type Issue struct {
	Number int
	Title  string   // untrusted text
	Body   string   // untrusted text
	Labels []string // the first 20
}

// CheckKind distinguishes GitHub's two ways of reporting on a commit.
type CheckKind string

// The kinds of check.
const (
	CheckRun CheckKind = "check-run" // https://docs.github.com/rest/checks
	Status   CheckKind = "status"    // https://docs.github.com/rest/commits/statuses
)

// CheckState is the result of a check, on one scale for both kinds.
type CheckState string

// The results. A required check is satisfied by success, neutral and skipped
// (https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks).
// Timeouts, and results that GitHub may add later, count as failure: a test that hangs is the change's fault.
const (
	CheckPending        CheckState = "pending"
	CheckSuccess        CheckState = "success"
	CheckFailure        CheckState = "failure"
	CheckNeutral        CheckState = "neutral"
	CheckSkipped        CheckState = "skipped"
	CheckCancelled      CheckState = "cancelled"
	CheckActionRequired CheckState = "action_required"
	CheckStartupFailure CheckState = "startup_failure" // a workflow could not start
	CheckStale          CheckState = "stale"           // GitHub gave up waiting for its end
)

// Check is one check run or commit status of the head.
type Check struct {
	Name     string
	App      string // slug of the App that reports it; empty for a status
	AppID    int64  // GitHub's id of that App, which stays when the App is renamed
	By       User   // who reports a status; zero for a check run
	Kind     CheckKind
	State    CheckState
	Required bool      // branch protection requires it
	At       time.Time // when it last started or ended; zero if GitHub does not say
	URL      string
	Summary  string // one line: the check run's title, the status's description; untrusted text

	// workflow names the workflow of GitHub Actions, and the event and the branch or fork that started it. run is the number of
	// its run, and began is when the job last started; empty or zero if they are not known.
	workflow string
	run      int64
	began    time.Time
}

// Source is the App or the account that reports a check, by GitHub's id: slugs and logins can pass to others.
func (c Check) Source() string {
	if c.Kind == Status {
		return fmt.Sprintf("account %d", c.By.ID)
	}
	return fmt.Sprintf("app %d", c.AppID)
}

// Unlisted reports whether no check is behind it, but a run of a workflow that shows no check. Its summary is then what this
// package says about the run.
func (c Check) Unlisted() bool { return c.Kind == CheckRun && c.App == Actions && c.AppID == 0 }

// Mergeable is GitHub's answer whether the head merges into the base without conflict. It is only clean if
// GitHub has also evaluated the base's rules: PullRequest.Behind and Blocked are valid then, and not before.
type Mergeable string

// The answers. GitHub computes the answer in the background: unknown means that it must be asked again in a
// moment (https://docs.github.com/rest/pulls/pulls#get-a-pull-request).
const (
	MergeableUnknown     Mergeable = "unknown"
	MergeableClean       Mergeable = "clean"
	MergeableConflicting Mergeable = "conflicting"
)

// Permission is what a login may do in a repository: admin, maintain, write, triage, read or none.
type Permission string

// Unseen is the permission of a login if GitHub does not show it to this one. It includes nothing.
const Unseen Permission = "not visible"

// CanWrite reports whether the permission includes pushing, which a person's orders and approvals need to
// count.
func (p Permission) CanWrite() bool { return p == "admin" || p == "maintain" || p == "write" }

// Includes reports whether the permission includes a right: write, maintain or admin. A right with any other
// name needs admin.
func (p Permission) Includes(right string) bool {
	switch right {
	case "write":
		return p.CanWrite()
	case "maintain":
		return p == "admin" || p == "maintain"
	}
	return p == "admin"
}

// Listed is a pull request in a list of open ones: enough to see whether one must look at it.
type Listed struct {
	Ref
	Title     string
	UpdatedAt time.Time
}

// FailedCheck is a check that ended without success, and what it reported.
type FailedCheck struct {
	Name    string
	Summary string // for a check run it begins with the conclusion; at most about 16 KiB of untrusted text
	Text    string // annotations, report and the end of the log: at most about 100 KiB of untrusted text, without secrets
}
