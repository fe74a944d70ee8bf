// Package author owns one fix of one pull request: it merges the base into a
// worktree of the branch, has a model apply the review there, commits what the
// model changed and pushes it, fast-forward only. It stores nothing; what it
// did is in the commit.
package author

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
)

// Reader reads what a fix has to answer.
type Reader interface {
	ReviewRemarks(ctx context.Context, ref forge.Ref, review int64) ([]forge.ReviewRemark, error)
	FailedChecks(ctx context.Context, repo forge.Repo, sha string) ([]forge.FailedCheck, error)
}

// Author fixes pull requests with one engine. Its fields are set once; its
// methods may be called from several goroutines at once.
type Author struct {
	Worktrees *worktree.Store
	Engine    engine.Engine
	Read      Reader
	// Remote gives the clone URL and the Authorization header for git.
	Remote func(forge.Repo) (url, authorization string)
	// Identity is the author of the commits.
	Identity worktree.Identity
	// Reviewers are the logins whose reviews are applied.
	Reviewers []string
	// Allow lists the shell commands that the session may run.
	Allow       []string
	Model       string
	Timeout     time.Duration
	IdleTimeout time.Duration
}

// Outcome is a pushed fix.
type Outcome struct {
	// Head is the new head of the branch.
	Head string
	// Findings are the ids that the fix was asked to answer.
	Findings []string
	CostUSD  float64
	// Merged says that the base was merged in.
	Merged bool
	// Answer is what the session said of its work.
	Answer string
	// Started is when the model's process started; zero if none was needed.
	Started time.Time
}

// Errors that a fix ends in without having pushed.
var (
	// ErrNothingToFix says that no review asks for changes, no check failed and
	// the base is merged in already. No model was run.
	ErrNothingToFix = errors.New("there is nothing to fix: no configured reviewer requests changes on this head, none of its checks failed, and it is up to date with its base")
	// ErrNothingChanged says that the session ended without a change.
	ErrNothingChanged = errors.New("the model changed nothing")
	// ErrConflicts says that conflict markers are left.
	ErrConflicts = errors.New("the model left conflicts with the base unresolved")
	// ErrForbidden says that the session changed files that no model may change.
	ErrForbidden = errors.New("the model changed files that only a person may change")
	// ErrOvertaken says that the branch moved on GitHub while the fix was made.
	ErrOvertaken = errors.New("the branch moved on while it was fixed")
)

// Fix applies the latest review of pr's head, as it was read, and pushes the
// result. An *engine.Error means that the session did not finish. Progress, if
// set, hears of the session as it goes.
func (a *Author) Fix(ctx context.Context, pr forge.PullRequest, progress func(engine.Progress)) (Outcome, error) {
	b, err := a.gather(ctx, pr)
	if err != nil {
		return Outcome{}, err
	}
	url, authorization := a.Remote(pr.Ref.Repo)
	tree, err := a.Worktrees.Acquire(ctx, worktree.Request{
		Remote: worktree.Remote{URL: url, Authorization: authorization},
		Repo:   pr.Ref.Repo.String(), Number: pr.Ref.Number, Role: string(verdict.Author),
		Head: pr.Head.SHA, HeadRef: "refs/heads/" + pr.Head.Name,
		Base: pr.Base.SHA, BaseRef: "refs/heads/" + pr.Base.Name,
	})
	if errors.Is(err, worktree.ErrHeadMoved) {
		return Outcome{}, ErrOvertaken
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("prepare the worktree: %w", err)
	}
	defer tree.Release()

	merge, err := tree.Merge(ctx, pr.Base.SHA, fmt.Sprintf("Merge %s into %s", pr.Base.Name, pr.Head.Name), a.Identity)
	if err != nil {
		return Outcome{}, fmt.Errorf("merge the base into the branch: %w", err)
	}
	b.conflicts = merge.Conflicts
	out := Outcome{Merged: !merge.UpToDate, Findings: ids(b.ledger)}
	switch {
	case !b.needsModel() && merge.UpToDate:
		return out, ErrNothingToFix
	case b.needsModel():
		result, err := engine.Run(ctx, a.Engine, engine.Request{
			Role: engine.Author, Dir: tree.Dir(), Instructions: guidelines.AuthorInstructions(),
			Model: a.Model, Allow: a.Allow, Timeout: a.Timeout, IdleTimeout: a.IdleTimeout, Progress: progress,
		}, b.prompt())
		out.CostUSD, out.Answer, out.Started = result.CostUSD, result.Text, result.Started
		if err != nil {
			return out, err
		}
	}
	if out.Head, err = a.commit(ctx, tree, pr, b, merge, out.Answer); err != nil {
		return out, err
	}
	return out, push(ctx, tree, pr)
}

// gather reads what the fix has to answer: the latest verdict on the head, its
// inline comments, and the checks that failed.
func (a *Author) gather(ctx context.Context, pr forge.PullRequest) (brief, error) {
	b := brief{
		ref: pr.Ref.String(), title: pr.Title, body: pr.Body, head: pr.Head.SHA, base: pr.Base.SHA, fence: "quoted-" + rand.Text(),
	}
	for i := len(pr.Reviews) - 1; i >= 0; i-- {
		review := pr.Reviews[i]
		record, err := verdict.ParseRecord(review.Body)
		stands := err == nil && review.SHA == pr.Head.SHA && record.BaseBranch == pr.Base.Name && review.EditedAt == nil
		if !stands || review.State != forge.ChangesRequested || !a.trusts(review.Author.Login) {
			continue
		}
		b.review, b.ledger = review.Body, record.Ledger
		if b.remarks, err = a.Read.ReviewRemarks(ctx, pr.Ref, review.ID); err != nil {
			return brief{}, err
		}
		break
	}
	var err error
	b.failed, err = a.Read.FailedChecks(ctx, pr.Ref.Repo, pr.Head.SHA)
	return b, err
}

func (a *Author) trusts(login string) bool {
	for _, r := range a.Reviewers {
		if strings.EqualFold(r, login) {
			return true
		}
	}
	return false
}

// needsModel tells whether there is anything to do beyond merging the base.
func (b brief) needsModel() bool {
	return b.review != "" || len(b.failed) > 0 || len(b.conflicts) > 0
}

// commit turns what the session left in the tree into a commit on top of the
// branch, or says why it must not become one.
func (a *Author) commit(ctx context.Context, tree *worktree.Tree, pr forge.PullRequest, b brief, merge worktree.MergeResult, answer string) (string, error) {
	marked, err := tree.ConflictMarkers(ctx)
	if err != nil {
		return "", fmt.Errorf("look for conflict markers: %w", err)
	}
	if len(marked) > 0 {
		return "", fmt.Errorf("%w: %s", ErrConflicts, strings.Join(marked, ", "))
	}
	if err := refuseForbidden(ctx, tree, pr); err != nil {
		return "", err
	}
	sha, err := tree.Commit(ctx, b.message(answer), a.Identity)
	switch {
	case errors.Is(err, worktree.ErrNothingToCommit) && !b.needsModel():
		return merge.Commit, nil
	case errors.Is(err, worktree.ErrNothingToCommit):
		return "", ErrNothingChanged
	case err != nil:
		return "", fmt.Errorf("commit the fix: %w", err)
	}
	return sha, nil
}

// refuseForbidden keeps a model from changing the rules it is judged by. A file
// that is as the branch or as the base has it was not changed by the model.
func refuseForbidden(ctx context.Context, tree *worktree.Tree, pr forge.PullRequest) error {
	sinceHead, err := tree.ChangedFiles(ctx, pr.Head.SHA)
	if err != nil {
		return fmt.Errorf("list what the model changed: %w", err)
	}
	sinceBase, err := tree.ChangedFiles(ctx, pr.Base.SHA)
	if err != nil {
		return fmt.Errorf("list what the model changed: %w", err)
	}
	for _, path := range sinceHead {
		if strings.HasPrefix(path, ".touchstone/") && slices.Contains(sinceBase, path) {
			return fmt.Errorf("%w: %s", ErrForbidden, path)
		}
	}
	return nil
}

func push(ctx context.Context, tree *worktree.Tree, pr forge.PullRequest) error {
	err := tree.Push(ctx, pr.Head.Name, pr.Head.SHA)
	if errors.Is(err, worktree.ErrRejected) {
		return fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	if err != nil {
		return fmt.Errorf("push the fix: %w", err)
	}
	return nil
}

// recurrence is the line by which a session declares how a bug fix is kept from
// coming back. It cannot write commit messages itself.
var recurrence = regexp.MustCompile(`(?m)^[-*\s]*(Recurrence: [^\r\n]{1,200})$`)

// message is the commit's: which review it answers, and which findings.
func (b brief) message(answer string) string {
	var m strings.Builder
	switch outstanding := b.ledger.Outstanding(); {
	case len(outstanding) > 0:
		fmt.Fprintf(&m, "Apply review of %s\n\n", b.head[:min(7, len(b.head))])
		for _, e := range outstanding {
			// A mention notifies from a commit message as well, and a line break in what
			// a model wrote could forge a trailer.
			fmt.Fprintf(&m, "- [%s] %s\n", e.Dimension, oneLine(verdict.Prose(e.Path+": "+e.Claim)))
		}
		fmt.Fprintf(&m, "\nTouchstone-Reviewed: %s\nTouchstone-Findings: %s\n", b.head, strings.Join(ids(b.ledger), ", "))
	case len(b.failed) > 0:
		fmt.Fprintf(&m, "Mend what the checks of %s found\n\nTouchstone-Reviewed: %s\n", b.head[:min(7, len(b.head))], b.head)
	case b.review != "":
		fmt.Fprintf(&m, "Apply review of %s\n\nTouchstone-Reviewed: %s\n", b.head[:min(7, len(b.head))], b.head)
	default:
		fmt.Fprintf(&m, "Resolve conflicts with the base\n\nTouchstone-Reviewed: %s\n", b.head)
	}
	if declared := recurrence.FindStringSubmatch(answer); declared != nil {
		fmt.Fprintln(&m, verdict.Prose(strings.TrimSpace(declared[1])))
	}
	return m.String()
}

func ids(l verdict.Ledger) []string {
	var ids []string
	for _, e := range l.Outstanding() {
		ids = append(ids, e.ID)
	}
	return ids
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
