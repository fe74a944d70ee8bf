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
	"io/fs"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
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
	// Orders, if set, gives what people have ordered: what they waived is not fixed.
	Orders func(ctx context.Context, pr forge.PullRequest) ([]verdict.Command, error)
	// Settings gives those of the engine that are in force, of which a session takes its
	// model, the commands it may run and its bounds in time. Nil leaves all to the engine.
	Settings func() config.Engine
	// Scratch is a directory for the homes of the repository's commands while they
	// run; empty is the system's own for such things.
	Scratch string
}

// Outcome is a pushed fix.
type Outcome struct {
	// Head is the new head of the branch.
	Head string
	// Findings are the ids that the fix was asked to answer.
	Findings []string
	// CostUSD is of all turns of the session.
	CostUSD float64
	// Merged says that the base was merged in.
	Merged bool
	// Answer is what the session said of its work in its last turn.
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
	// ErrForbidden says that the session changed what no model may change, or added
	// what no model may add.
	ErrForbidden = errors.New("the model changed what only a person may change")
	// ErrRelaxed says that the session lowered the quality bar.
	ErrRelaxed = errors.New("the model lowered the quality bar instead of meeting it")
	// ErrDeferred says that the session left work for later.
	ErrDeferred = errors.New("the model left a note instead of a repair")
	// ErrUnverified says that the repository's verify command failed on the fix.
	ErrUnverified = errors.New("the fix did not pass the repository's verify command")
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

	settings, err := repositorySettings(ctx, tree, pr.Base.SHA)
	if err != nil {
		return Outcome{}, err
	}
	merge, err := tree.Merge(ctx, pr.Base.SHA, fmt.Sprintf("Merge %s into %s", pr.Base.Name, pr.Head.Name), a.Identity)
	if err != nil {
		return Outcome{}, fmt.Errorf("merge the base into the branch: %w", err)
	}
	locks, err := a.settleLocks(ctx, tree, pr.Base.SHA, merge.Conflicts)
	if err != nil {
		return Outcome{}, err
	}
	b.conflicts = locks.left
	r := &repair{
		author: a, tree: tree, brief: b, merge: merge, locks: locks, verify: settings.Verify, progress: progress,
		own: ownChange{tree: tree, since: []string{pr.Head.SHA, pr.Base.SHA}, head: pr.Head.SHA},
		out: Outcome{Merged: !merge.UpToDate, Findings: ids(b.ledger)},
	}
	if merge.Commit != "" {
		r.own.since, r.own.head = []string{merge.Commit}, merge.Commit
	} else if merge.UpToDate {
		r.own.since = []string{pr.Head.SHA}
	}
	if merge.UpToDate && !b.needsModel() {
		return r.out, ErrNothingToFix
	}
	if err := r.run(ctx); err != nil {
		return r.out, err
	}
	return r.out, push(ctx, tree, pr)
}

// repositorySettings are what the repository says on its base branch.
func repositorySettings(ctx context.Context, tree *worktree.Tree, base string) (config.Repository, error) {
	text, err := tree.ReadFile(ctx, base, config.RepositoryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return config.DefaultRepository(), nil
	}
	if err != nil {
		return config.Repository{}, fmt.Errorf("read the repository's settings: %w", err)
	}
	return config.ParseRepository(text)
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
		if !stands || review.State != forge.ChangesRequested || !verdict.ListsLogin(a.Reviewers, review.Author.Login) {
			continue
		}
		b.review, b.ledger = review.Body, record.Ledger
		if a.Orders != nil {
			orders, err := a.Orders(ctx, pr)
			if err != nil {
				return brief{}, err
			}
			b.ledger = b.ledger.Heed(orders, record.Heard)
		}
		if b.remarks, err = a.Read.ReviewRemarks(ctx, pr.Ref, review.ID); err != nil {
			return brief{}, err
		}
		break
	}
	var err error
	b.failed, err = a.Read.FailedChecks(ctx, pr.Ref.Repo, pr.Head.SHA)
	return b, err
}

// needsModel tells whether there is anything to do beyond merging the base.
func (b brief) needsModel() bool {
	return b.review != "" || len(b.failed) > 0 || len(b.conflicts) > 0
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
