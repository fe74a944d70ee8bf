package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	snapshotPages = 20 // for each list: 1,000 reviews, comments, deleted comments and threads, 2,000 checks and label changes
	snapshotTries = 4  // a pull request may change while its pages are read
	snapshotPause = 500 * time.Millisecond
)

// errMoving says that the pages do not belong together.
var errMoving = errors.New("the pull request keeps changing while it is read")

// PullRequest reads a complete pull request, as it is when the call returns. If it changes between two pages,
// or GitHub has not yet connected the newest push with its commit, the reading starts over; after four tries
// it is an ErrUnavailable.
//
// More than 1,000 reviews, comments, deleted comments or threads, 2,000 checks or label changes, or threads with
// more than 2,000 comments beyond the newest 100 of each are an ErrUnreadable. The pull request that is returned with
// it has the latest of each: enough to call a person, and no more.
func (c *Client) PullRequest(ctx context.Context, ref Ref) (PullRequest, error) {
	op := "read " + ref.String()
	for try := 1; ; try++ {
		pr, err := c.snapshot(ctx, ref)
		if !errors.Is(err, errMoving) {
			return pr, c.failed(op, err)
		}
		if try == snapshotTries || !retryIn(ctx, snapshotPause*time.Duration(try)) {
			return PullRequest{}, &Error{Op: op, Message: errMoving.Error(), Remedy: "try again", kind: ErrUnavailable, cause: ctx.Err()}
		}
	}
}

// snapshot makes one attempt. The same query pages all lists; a list that is read to its end returns empty
// pages from then on. If more than one request was needed, the first one is repeated at the end: that shows
// that nothing has changed.
func (c *Client) snapshot(ctx context.Context, ref Ref) (PullRequest, error) {
	variables := ref.variables()
	var first, pr PullRequest
	var suites []suiteNode
	var long []threadNode
	beyond := ""
	for page := 1; ; page++ {
		next, node, err := c.page(ctx, ref, variables)
		if err != nil {
			return PullRequest{}, err
		}
		if page == 1 {
			first = next
		} else if !sameMoment(pr, next) {
			return PullRequest{}, errMoving
		}
		commit := node.commit()
		next.Reviews = slices.Concat(next.Reviews, pr.Reviews)
		next.Comments = slices.Concat(next.Comments, pr.Comments)
		next.Labelled = slices.Concat(next.Labelled, pr.Labelled)
		next.Deleted = slices.Concat(next.Deleted, pr.Deleted)
		next.Threads = slices.Concat(next.Threads, pr.Threads)
		next.Checks = slices.Concat(pr.Checks, next.Checks)
		next.Statuses = slices.Concat(pr.Statuses, next.Statuses)
		suites = append(suites, commit.CheckSuites.Nodes...)
		long = append(long, node.long()...)
		pr = next

		beyond = cmp.Or(beyond, node.beyond())
		more := follow(variables, node, commit)
		if more != "" && page < snapshotPages {
			continue
		}
		if slices.ContainsFunc(slices.Concat(pr.Checks, pr.Statuses), func(c Check) bool { return c.Required }) {
			pr.Stacked = 0 // required by a ruleset, which the branch does not show
		}
		if node.alone(ref) { // else a later run may be for the other pull request, with another base
			pr.Checks = current(pr.Checks)
		}
		pr.Checks = append(pr.Checks, unlisted(pr.Checks, suites)...)
		tail, err := c.restOf(ctx, &pr, long)
		if err != nil {
			return PullRequest{}, err
		}
		if beyond = cmp.Or(beyond, more, tail); beyond != "" {
			return pr, unreadable("it has more than " + beyond + ", which is more than the agents read")
		}
		if page == 1 && len(long) == 0 {
			return pr, nil
		}
		now, _, err := c.page(ctx, ref, ref.variables())
		if err == nil && !reflect.DeepEqual(now, first) {
			err = errMoving
		}
		return pr, err
	}
}

// variables are the variables of a query about a repository.
func (r Repo) variables() map[string]any { return map[string]any{"owner": r.Owner, "name": r.Name} }

// variables are the variables of a query about a pull request.
func (r Ref) variables() map[string]any {
	return map[string]any{"owner": r.Owner, "name": r.Name, "number": r.Number}
}

// page reads one page of all lists, and what has no pages.
func (c *Client) page(ctx context.Context, ref Ref, variables map[string]any) (PullRequest, *pullRequestNode, error) {
	var data snapshotData
	if err := c.query(ctx, pullRequestQuery, variables, &data); err != nil {
		return PullRequest{}, nil, err
	}
	if data.Repository == nil || data.Repository.PullRequest == nil {
		return PullRequest{}, nil, c.missing()
	}
	// GitHub still answers under the old name, but its events and settings have the new one.
	if name := data.Repository.NameWithOwner; !strings.EqualFold(name, ref.Repo.String()) {
		return PullRequest{}, nil, &Error{
			Message: fmt.Sprintf("the repository %s was renamed to %s", ref.Repo, name),
			Remedy:  "write the new name in `repositories`, and restart the agent",
		}
	}
	node := data.Repository.PullRequest
	pr := node.head(ref)
	pr.Viewer = data.Viewer.Login
	pr.Shared = node.shared(data.Repository.DefaultBranchRef)
	pr.SameBranch = node.sameBranch(ref)
	pr.Stacked = node.stacked(data.Repository.DefaultBranchRef, ref.Repo)
	pr.ViewerPermission = Permission(strings.ToLower(data.Repository.ViewerPermission))
	commit := node.commit()
	if pr.Open && (commit.Oid == "" || commit.Oid != pr.Head.SHA) {
		return PullRequest{}, nil, errMoving // checks of another commit must not count for this one
	}
	pr.Reviews, pr.Comments, pr.Threads = submitted(node.Reviews), comments(node.Comments, false), node.threads()
	pr.Checks, pr.Statuses = commit.checks(), commit.statuses()
	return pr, node, nil
}

// follow moves the cursors of all lists. It returns "" if all lists are read, else a list that has another
// page, as the most that is read of it.
func follow(variables map[string]any, node *pullRequestNode, commit commitNode) (more string) {
	for _, list := range []struct {
		most, cursor string
		page         pageInfo
	}{
		{"1,000 reviews", "reviewsBefore", node.Reviews.PageInfo},
		{"1,000 comments", "commentsBefore", node.Comments.PageInfo},
		{"1,000 threads", "threadsBefore", node.ReviewThreads.PageInfo},
		{"2,000 changes of labels", "labelsBefore", node.TimelineItems.PageInfo},
		{"1,000 deleted comments", "deletionsBefore", node.Deletions.PageInfo},
		{"2,000 check suites", "suitesAfter", commit.CheckSuites.PageInfo},
		{"2,000 checks", "checksAfter", commit.contexts().PageInfo},
	} {
		if list.page.advance(variables, list.cursor) {
			more = list.most
		}
	}
	return more
}

// beyond names a list of which only the first page is read, if more follows.
func (n *pullRequestNode) beyond() string {
	switch {
	case n.Labels.PageInfo.HasNextPage:
		return "100 labels"
	case n.ReviewRequests.PageInfo.HasNextPage:
		return "100 reviewers"
	}
	return ""
}

// sameMoment compares the fields of the pull request itself on two pages.
func sameMoment(a, b PullRequest) bool {
	return a.Head == b.Head && a.Base == b.Base && a.Open == b.Open && a.Draft == b.Draft &&
		a.UpdatedAt.Equal(b.UpdatedAt) && slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Requested, b.Requested)
}

type snapshotData struct {
	Viewer     struct{ Login string }
	Repository *struct {
		NameWithOwner    string
		ViewerPermission string
		DefaultBranchRef *struct{ Name string }
		PullRequest      *pullRequestNode
	}
}

type oidNode struct{ Oid string }

// sha is empty if GitHub has no commit there.
func (n *oidNode) sha() string {
	if n == nil {
		return ""
	}
	return n.Oid
}

type repoNode struct{ NameWithOwner string }

func (r *repoNode) repo() Repo {
	if r == nil {
		return Repo{}
	}
	repo, _ := ParseRepo(r.NameWithOwner)
	return repo
}

type pullRequestNode struct {
	FullDatabaseID                                           bigInt
	ID, Title, Body, URL, State, Mergeable, MergeStateStatus string
	Number                                                   int
	IsDraft, Merged, IsCrossRepository                       bool
	IsInMergeQueue, IsMergeQueueEnabled                      bool
	CreatedAt, UpdatedAt                                     time.Time
	MergedAt                                                 *time.Time
	Author, MergedBy                                         *actorNode
	HeadRefName, HeadRefOid, BaseRefName                     string
	HeadRepository                                           *repoNode
	HeadRef                                                  *struct {
		RefUpdateRule          *struct{ RequiredApprovingReviewCount int }
		AssociatedPullRequests connection[*pullNode]
		Pulls                  connection[*pullNode]
	}
	BaseRef         *baseNode
	MergeQueueEntry *struct {
		Enqueuer   *actorNode
		EnqueuedAt time.Time
	}
	Deletions connection[struct {
		Actor, DeletedCommentAuthor *actorNode
		CreatedAt                   time.Time
	}]
	Removals connection[struct {
		Actor     *actorNode
		CreatedAt time.Time
	}]
	Renewals connection[struct{ CreatedAt time.Time }]
	Bases    connection[struct{ CreatedAt time.Time }]
	Ends     endNodes
	Forced   connection[struct {
		Actor       *actorNode
		CreatedAt   time.Time
		AfterCommit *oidNode
	}]
	MergeCommit             *oidNode
	Labels                  connection[struct{ Name string }]
	TimelineItems           connection[labellingNode]
	ReviewRequests          connection[requestNode]
	Reviews                 connection[reviewNode]
	Comments                connection[commentNode]
	ReviewThreads           connection[threadNode]
	ClosingIssuesReferences connection[*issueNode]
	Commits                 connection[struct{ Commit commitNode }]
}

// head converts everything but the paged lists.
func (n *pullRequestNode) head(ref Ref) PullRequest {
	pr := PullRequest{
		Ref: ref, ID: n.ID, DatabaseID: int64(n.FullDatabaseID), Title: n.Title, Body: n.Body, URL: n.URL, Author: n.Author.user(),
		Open: n.State == "OPEN", Merged: n.Merged, Draft: n.IsDraft, Fork: n.IsCrossRepository, InQueue: n.IsInMergeQueue,
		Queue:     n.IsMergeQueueEnabled,
		Head:      Branch{Repo: n.HeadRepository.repo(), Name: n.HeadRefName, SHA: n.HeadRefOid},
		Base:      Branch{Repo: ref.Repo, Name: n.BaseRefName},
		Requested: logins(n.ReviewRequests),
		Issues:    n.issues(),
		Labelled:  labellings(n.TimelineItems),
		Mergeable: mergeable(n.Mergeable, n.MergeStateStatus),
		Behind:    n.MergeStateStatus == "BEHIND",
		Blocked:   n.MergeStateStatus == "BLOCKED",
		CreatedAt: n.CreatedAt,
		UpdatedAt: n.UpdatedAt,
	}
	if n.BaseRef != nil {
		pr.Base.SHA = n.BaseRef.Target.sha()
		if rule := n.BaseRef.RefUpdateRule; rule != nil {
			pr.Requires = rule.RequiredStatusCheckContexts
		}
	}
	if n.MergeQueueEntry != nil {
		pr.Enqueued = Enqueuing{n.MergeQueueEntry.Enqueuer.user(), n.MergeQueueEntry.EnqueuedAt}
	}
	for _, d := range n.Deletions.Nodes {
		pr.Deleted = append(pr.Deleted, Deletion{By: d.Actor.user(), Author: d.DeletedCommentAuthor.user(),
			ByPerson: d.DeletedCommentAuthor.person(), At: d.CreatedAt})
	}
	for _, r := range n.Removals.Nodes {
		pr.Dequeued = append(pr.Dequeued, Enqueuing{r.Actor.user(), r.CreatedAt})
	}
	for _, r := range n.Renewals.Nodes {
		pr.RenewedAt = r.CreatedAt
	}
	for _, b := range n.Bases.Nodes {
		pr.BaseReplaced = b.CreatedAt
	}
	if n.State == "CLOSED" {
		pr.Orphaned = n.Ends.orphaned()
	}
	for _, f := range n.Forced.Nodes {
		pr.HeadForced = append(pr.HeadForced, ForcePush{By: f.Actor.user(), At: f.CreatedAt, SHA: f.AfterCommit.sha()})
	}
	if n.Merged {
		pr.MergedBy, pr.MergedAt, pr.MergeSHA = n.MergedBy.user(), n.MergedAt, n.MergeCommit.sha()
	}
	for _, label := range n.Labels.Nodes {
		pr.Labels = append(pr.Labels, label.Name)
	}
	return pr
}

// mergeable combines GitHub's two answers. GitHub computes them at different times, so one may be known
// before the other. A merge state that is not listed here counts as not known
// (https://docs.github.com/graphql/reference/enums#mergestatestatus).
func mergeable(state, status string) Mergeable {
	switch {
	case state == "CONFLICTING":
		return MergeableConflicting
	case state != "MERGEABLE":
		return MergeableUnknown
	}
	switch status {
	case "CLEAN", "UNSTABLE", "HAS_HOOKS", "BEHIND", "BLOCKED":
		return MergeableClean
	}
	return MergeableUnknown
}

// shared reports whether the head is a branch that other work is based on, as far as GitHub says. It is
// shared even if the token's login may change it, as an administrator may.
func (n *pullRequestNode) shared(byDefault *struct{ Name string }) bool {
	if n.IsCrossRepository {
		return false
	}
	ruled := n.HeadRef != nil && n.HeadRef.RefUpdateRule != nil && n.HeadRef.RefUpdateRule.RequiredApprovingReviewCount > 0
	return ruled || byDefault != nil && byDefault.Name == n.HeadRefName
}

// baseNode is the branch to merge into.
type baseNode struct {
	Target        *oidNode
	RefUpdateRule *struct {
		RequiredApprovingReviewCount int
		RequiredStatusCheckContexts  []string
	}
	AssociatedPullRequests connection[*pullNode]
}

// pullNode names a pull request.
type pullNode struct {
	Number     int
	ClosedAt   *time.Time
	Repository *repoNode
}

// is reports whether it is the pull request that ref names, which may be in another case than GitHub's name.
func (n *pullNode) is(ref Ref) bool {
	return strings.EqualFold(Ref{Repo: n.Repository.repo(), Number: n.Number}.String(), ref.String())
}

// sameBranch finds another open pull request of the same branch.
func (n *pullRequestNode) sameBranch(ref Ref) string {
	if n.IsCrossRepository || n.HeadRef == nil {
		return ""
	}
	for _, other := range n.HeadRef.AssociatedPullRequests.Nodes {
		if other != nil && !other.is(ref) {
			return Ref{Repo: other.Repository.repo(), Number: other.Number}.String()
		}
	}
	return ""
}

// alone reports whether GitHub says that no other pull request of the branch was open since this one was opened. It
// does not say so of a branch whose fork was deleted.
func (n *pullRequestNode) alone(ref Ref) bool {
	return n.HeadRef != nil && !n.HeadRef.Pulls.PageInfo.HasPreviousPage &&
		!slices.ContainsFunc(n.HeadRef.Pulls.Nodes, func(other *pullNode) bool {
			return other != nil && !other.is(ref) && (other.ClosedAt == nil || !other.ClosedAt.Before(n.CreatedAt))
		})
}

// stacked finds the open or merged pull request whose own branch is this one's base. The default branch, and
// a branch with merge rules, may also be a pull request's branch, for instance of a release; they do not
// count, since other work is merged into them too.
func (n *pullRequestNode) stacked(byDefault *struct{ Name string }, in Repo) int {
	ruled := n.BaseRef == nil || n.BaseRef.RefUpdateRule != nil || n.IsMergeQueueEnabled
	if ruled || byDefault != nil && byDefault.Name == n.BaseRefName {
		return 0
	}
	for _, below := range n.BaseRef.AssociatedPullRequests.Nodes {
		if below != nil && below.Repository.repo() == in {
			return below.Number
		}
	}
	return 0
}
