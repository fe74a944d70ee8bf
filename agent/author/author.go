// Package author owns one fix of one pull request. It merges the base into a worktree of the branch, has a
// model apply the review there, commits what the model changed, and pushes it, fast-forward only. It stores
// nothing: the commit says what was done.
package author

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/telemetry"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// Reader reads what a fix must answer.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
	FailedChecks(ctx context.Context, repo forge.Repo, sha string) ([]forge.FailedCheck, error)
	ChecksOf(ctx context.Context, repo forge.Repo, sha string) ([]forge.Check, error)
}

// Author fixes pull requests with one engine. Its fields are set once; its methods are safe for concurrent
// use.
type Author struct {
	Worktrees *worktree.Store
	Engine    engine.Engine
	Read      Reader
	// Remote returns the clone URL and the Authorization header for git.
	Remote pull.Remote
	// Identity is the author of the commits.
	Identity worktree.Identity
	// Reviewers are the logins whose reviews are applied.
	Reviewers []string
	// Trust decides whose records are believed. Key signs the costs that a fix reports.
	Trust *trust.Book
	Key   ed25519.PrivateKey
	// Orders, if set, returns people's orders: findings that they waived are not fixed.
	Orders func(ctx context.Context, pr forge.PullRequest) ([]verdict.Command, error)
	// Tried, if set, says what became of the latest attempts that were not pushed.
	Tried func(pr forge.PullRequest) []string
	// Unwanted, if set, is asked before each push whether the pull request still needs the act, a Fix or an
	// Apply. Argument begun is the pull request when the act began, now is its present state. It returns why
	// the act is no longer needed, or "".
	Unwanted func(ctx context.Context, kind decide.Kind, begun, now forge.PullRequest) (why string, err error)
	// PushTimeout bounds one push; zero means two minutes. A push that takes longer counts as an outage.
	PushTimeout time.Duration
	// Settings are the source of a session's model, of the commands that it may run, and of its time limits.
	Settings config.EngineSource
	// TempDir is the directory for the home directories of the repository's commands while they run, and for
	// what a session reads besides its worktree. Empty means the system's own.
	TempDir string
	// Alone runs the repository's commands without network access. If that cannot be enforced, they do not
	// run.
	Alone bool
	// Private are files and directories that the repository's commands cannot read in their sandbox, except
	// for the worktree inside them.
	Private []string
}

// Outcome is a pushed fix.
type Outcome struct {
	// Head is the new head of the branch.
	Head string
	// Findings are the ids of the findings that the fix had to answer. Repaired, Disputed and Person are the
	// session's words about them, by id: what it did, why the finding is wrong, and what a person must do.
	Findings                   []string
	Repaired, Disputed, Person map[string]string
	// CostUSD is the cost of all turns of the session.
	CostUSD float64
	// Merged says that the base was merged in.
	Merged bool
	// Answer is the text of the session's last turn.
	Answer string
	// Started is when the model's process started; zero if no model was needed.
	Started time.Time
}

// Errors of a fix that pushed nothing.
var (
	// ErrNothingToFix says that no review requests changes, no check failed that passes on the base, and the
	// base is merged already. No model was run.
	ErrNothingToFix = errors.New("there is nothing to fix: no configured reviewer requests changes on this head, none of its checks failed " +
		"that does not fail on its base too, and it is up to date with its base")
	// ErrNothingChanged says that the session ended without a change.
	ErrNothingChanged = errors.New("the model changed nothing")
	// ErrDisputed says that the session changed nothing because it disputes what is open. The Outcome has the
	// disputes, for the reviewer to judge once more.
	ErrDisputed = errors.New("the model changed nothing, and disputes the open findings")
	// ErrNeedsPerson says that the session changed nothing because only a person can settle what is open: the
	// session says so, or it disputes again what the reviewer has already judged.
	ErrNeedsPerson = errors.New("the model changed nothing, and leaves the open findings to a person")
	// ErrConflicts says that conflict markers are left.
	ErrConflicts = errors.New("the model left conflicts with the base unresolved")
	// ErrUndecided says that the branch and its base conflict in a way that no session can decide.
	ErrUndecided = errors.New("a person has to resolve a conflict with the base")
	// ErrForbidden says that the session changed or added something that no model may change or add.
	ErrForbidden = errors.New("the model changed what only a person may change")
	// ErrRelaxed says that the session lowered the quality bar.
	ErrRelaxed = errors.New("the model lowered the quality bar instead of meeting it")
	// ErrDeferred says that the session left work for later.
	ErrDeferred = errors.New("the model left a note instead of a repair")
	// ErrUnverified says that the repository's verify command failed on the fix.
	ErrUnverified = errors.New("the fix did not pass the repository's verify command")
	// ErrFailsOnBase adds to ErrUnverified that the command also fails on the base of the pull request.
	ErrFailsOnBase = errors.New("it fails on the base too; repair it there first, or correct verify.command in .touchstone/config.yaml")
	// ErrUncommittable says that the session left files that git cannot record as they are, such as a nested
	// repository.
	ErrUncommittable = errors.New("what the model left cannot be committed")
	// ErrNoVerify says that the repository's verify command cannot be run on this machine.
	ErrNoVerify = errors.New("the repository's verify command cannot run on this machine, so nothing is pushed; install the program, or " +
		"correct verify.command in .touchstone/config.yaml on the base branch")
	// ErrUnpushable says that GitHub rejects the push for a reason that another merge would not remove.
	ErrUnpushable = errors.New("the fix is ready, but GitHub rejected the push; unless GitHub says why, allow this login to push to the " +
		"branch, in its protection rules and in its token's permissions")
	// ErrOvertaken says that the branch moved on GitHub during the fix, or that the pull request no longer
	// needs that fix.
	ErrOvertaken = errors.New("the pull request changed while it was being fixed")
)

// Fix applies the latest review of pr's head, as it was read, and pushes the result. Argument allowed bounds
// the session. An *engine.Error means that the session did not finish. Progress, if set, is called with the
// session's progress.
func (a *Author) Fix(ctx context.Context, pr forge.PullRequest, allowed verdict.Allowance,
	progress func(engine.Progress)) (Outcome, error) {
	r := &repair{author: a, kind: decide.Fix, begun: pr, allowed: allowed, progress: progress}
	defer r.release()
	defer r.clear()
	err := step(ctx, "prepare", func(ctx context.Context) error { return r.prepare(ctx, pr) })
	if err == nil {
		err = r.run(ctx)
	}
	if err != nil {
		return r.out, err
	}
	return r.out, step(ctx, "push", func(ctx context.Context) error { return r.push(ctx, pr) })
}

// step runs a part of a fix in its own trace span.
func step(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, end := telemetry.Step(ctx, name)
	err := do(ctx)
	end(err)
	return err
}

// maxConflicts is how many conflicting files a session is asked to merge. With more, the two sides have
// diverged too far, and their list alone would be a long prompt.
const maxConflicts = 300

// prepare merges the base into a worktree of the branch, and finds out what is left for the session to do.
func (r *repair) prepare(ctx context.Context, pr forge.PullRequest) (err error) {
	if r.brief, err = r.author.gather(ctx, pr); err != nil {
		return err
	}
	if r.allowed.NoModel {
		r.brief.failed = nil // ignored, since a check that counts would need a session
	}
	if err := r.enter(ctx, pr); err != nil {
		return err
	}
	if r.merge, err = r.tree.Merge(ctx, pr.Base.SHA, mergeMessage(pr), r.author.Identity); err != nil {
		return fmt.Errorf("merge the base into the branch: %w", err)
	}
	if r.locks, err = r.author.settleLocks(ctx, r.tree, pr.Head.SHA, pr.Base.SHA, r.merge.Conflicts); err != nil {
		return err
	}
	if err := r.author.tryLocks(ctx, r.tree, &r.locks); err != nil {
		return err
	}
	if n := len(r.locks.left); n > maxConflicts {
		return fmt.Errorf("%w: %d files conflict, and a session resolves at most %d; merge %s into the branch by hand, and push", ErrUndecided,
			n, maxConflicts, pr.Base.Name)
	}
	for _, name := range r.locks.left {
		if slices.Contains(r.merge.Undecided, name) {
			return fmt.Errorf("%w: %q is not a text file; merge %s into the branch by hand, choose the right side, and push", ErrUndecided, name,
				pr.Base.Name)
		}
	}
	if r.brief.conflicts, err = parted(ctx, r.tree, pr.Head.SHA, pr.Base.SHA, r.locks.left, r.merge.Unmarked); err != nil {
		return err
	}
	for i, c := range r.brief.conflicts {
		r.brief.conflicts[i].chosen = slices.Contains(r.locks.chosen, c.path)
	}
	if len(r.brief.conflicts) > 0 {
		if err := r.laySides(); err != nil {
			return err
		}
	}
	r.out = Outcome{Merged: !r.merge.UpToDate, Findings: ids(r.brief.ledger)}
	r.own = ownChange{tree: r.tree, since: pr.Head.SHA, head: pr.Head.SHA, byRuns: len(r.verify.Reports) > 0, open: r.brief.ledger}
	switch {
	case r.merge.Commit != "":
		r.own.since, r.own.head = r.merge.Commit, r.merge.Commit
	case len(r.merge.Conflicts) > 0:
		r.own.merging, r.own.since = pr.Base.SHA, r.merge.Tree
		r.own.conflicts, r.own.sides = r.merge.Conflicts, []string{pr.Head.SHA, pr.Base.SHA}
	}
	if r.merge.UpToDate && !r.brief.needsModel() {
		return ErrNothingToFix
	}
	return r.learn(ctx, pr)
}

// enter makes a worktree of the branch, and reads on the base how its repository verifies a fix.
func (r *repair) enter(ctx context.Context, pr forge.PullRequest) (err error) {
	if r.tree, err = r.author.acquire(ctx, pr); err != nil {
		return err
	}
	settings, err := config.ReadRepository(ctx, r.tree, pr.Base.SHA)
	r.verify = settings.Verify
	return err
}

// gather reads what the fix must answer: the verdict that counts for the head, its findings, and the failed
// checks.
func (a *Author) gather(ctx context.Context, pr forge.PullRequest) (brief, error) {
	b := brief{
		ref: pr.Ref.String(), title: pr.Title, body: pr.Body, head: pr.Head.SHA, base: pr.Base.SHA, fence: "quoted-" + rand.Text(),
		signer: trust.Signer(a.Key, pr),
	}
	if review, record, ok := a.objection(pr); ok {
		b.review, b.ledger = summary(review.Body), record.Ledger
		if a.Orders != nil {
			orders, err := a.Orders(ctx, pr)
			if err != nil {
				return brief{}, err
			}
			b.ledger = b.ledger.Renewed(pr.BaseReplaced).WithOrders(orders, record.LastComment, pr.BaseReplaced)
		}
		b.history = a.statements(pr, b.ledger)
	}
	return b, a.addChecks(ctx, &b, pr)
}

// addChecks adds the failed checks. It separates those that also fail on the base: this pull request did not
// cause them, and need not fix them.
func (a *Author) addChecks(ctx context.Context, b *brief, pr forge.PullRequest) error {
	failed, err := a.Read.FailedChecks(ctx, pr.Ref.Repo, pr.Head.SHA)
	if err != nil || len(failed) == 0 || pr.Base.SHA == "" {
		b.failed = failed
		return err
	}
	base, err := a.Read.ChecksOf(ctx, pr.Ref.Repo, pr.Base.SHA)
	for _, f := range failed {
		if slices.ContainsFunc(base, func(c forge.Check) bool { return c.Name == f.Name && c.State == forge.CheckFailure }) {
			b.inherited = append(b.inherited, f.Name)
		} else {
			b.failed = append(b.failed, f)
		}
	}
	return err
}

// objection is the review that requests changes of the head, with its record, chosen as in the decision to
// fix. A review that its reviewer has replaced since does not count.
func (a *Author) objection(pr forge.PullRequest) (forge.SubmittedReview, verdict.Record, bool) {
	s := pull.StateOf(pr, decide.Author, config.Config{Reviewers: a.Reviewers}, pull.Facts{Trust: a.Trust})
	i, ok := s.Objection()
	if !ok {
		return forge.SubmittedReview{}, verdict.Record{}, false
	}
	return pr.Reviews[i], *s.Opinions[i].Record, true
}

// needsModel reports whether there is more to do than merging the base.
func (b brief) needsModel() bool {
	return b.review != "" || len(b.failed) > 0 || len(b.conflicts) > 0
}
