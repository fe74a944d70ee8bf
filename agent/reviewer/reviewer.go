// Package reviewer owns one review of one head. It gathers the change and the rules, finds in code what needs no
// model, has a model walk the dimensions in one session, judges the answer and posts the result. It stores
// nothing: what it learns goes into the posted review's record.
//
// An [Examiner] knows changes, a [Reviewer] knows pull requests. A review is made in steps, each with its input
// and output:
//
//	pull.go       a pull request and its worktree     ->  Subject
//	rules.go      Subject                             ->  criteria: the settings and the rules that apply
//	scan.go       Subject                             ->  scan: what code finds without a model
//	prompt.go     Subject, criteria, change.Change    ->  material: what a session is given to read
//	session.go    material                            ->  Examination: what the session answered
//	conclude.go   Examination, scan                   ->  Outcome, its review by report.go
//	post.go       Outcome                             ->  the posted review
package reviewer

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/reviewer/change"
	"touchstone/agent/reviewer/submodule"
	"touchstone/agent/telemetry"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// Poster posts a review, which cannot be taken back.
type Poster interface {
	PostReview(ctx context.Context, ref forge.Ref, r forge.Review) (forge.Posted, error)
}

// Speaker comments on a pull request, which cannot be taken back either.
type Speaker interface {
	Comment(ctx context.Context, ref forge.Ref, body string) (url string, err error)
	Reply(ctx context.Context, ref forge.Ref, comment int64, body string) error
}

// Resolver closes the conversation about a finding that is gone.
type Resolver interface {
	ResolveThread(ctx context.Context, repo forge.Repo, thread string) error
}

// Withdrawer dismisses a review, with a sentence that says why.
type Withdrawer interface {
	DismissReview(ctx context.Context, ref forge.Ref, review int64, why string) error
}

// Reader reads everything that a review is based on.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
	FailedChecks(ctx context.Context, repo forge.Repo, sha string) ([]forge.FailedCheck, error)
	Permission(ctx context.Context, repo forge.Repo, login string) (forge.Permission, error)
	ReviewRemarks(ctx context.Context, ref forge.Ref, review int64) ([]string, error)
	History(ctx context.Context, repo forge.Repo, since time.Time, most int) (past []forge.Past, more bool, err error)
}

// Reviewer reviews pull requests. Its fields are set once; its methods are safe for concurrent use.
type Reviewer struct {
	Examiner
	Worktrees *worktree.Store
	Read      Reader
	// Upstream says where the commits of submodules stand; nil holds each that moves.
	Upstream submodule.GitHub
	Post     Poster
	Withdraw Withdrawer
	Say      Speaker
	Resolve  Resolver
	// Trust decides which records under this login are its own. Key signs new ones.
	Trust *trust.Book
	Key   ed25519.PrivateKey
	// Remote returns the clone URL and the Authorization header for git.
	Remote pull.Remote
}

// Outcome is a finished review.
type Outcome struct {
	Judgement verdict.Judgement
	Record    verdict.Record
	// Review is what was posted or, in a dry run, would have been. More is what did not fit into it.
	Review forge.Review
	More   []string
	// URL is where the posted review can be seen; empty in a dry run.
	URL string
	// Change says what was examined, and what was left out and why.
	Change change.Change
	// Carried says that an earlier approval was carried over and no model was run.
	Carried bool
	// Started is when the model's process started; zero if no model was needed.
	Started time.Time

	session engine.Result // the sum of its turns
}

// ErrOvertaken says that the head moved, or this login reviewed it elsewhere, before the review could be
// posted. Then nothing was posted, or it was withdrawn.
var ErrOvertaken = errors.New("the pull request changed while it was being reviewed")

// Options vary one review.
type Options struct {
	// DryRun judges without posting.
	DryRun bool
	// Progress is called with the session's progress.
	Progress func(engine.Progress)
	// Allowance is what the session may cost.
	Allowance verdict.Allowance
	// Orders are the orders of people who may give them.
	Orders []verdict.Command
}

// Review reviews the head of pr as it was read. An *engine.Error means that the session did not finish: there
// is no verdict, and nothing was posted.
func (r *Reviewer) Review(ctx context.Context, pr forge.PullRequest, opts Options) (Outcome, error) {
	p, tree, err := r.prepare(ctx, pr, opts)
	if err != nil {
		return Outcome{}, err
	}
	defer tree.Release()
	defer p.Close(ctx)
	approved, err := r.carriesOver(ctx, p, pr, tree)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	switch {
	case approved != nil:
		out, err = p.carry(*approved)
	case opts.Allowance.NoModel:
		err = errors.New("the approval of an earlier head cannot be carried over to this one, and no session may start")
	default:
		out, err = p.review(ctx, opts)
	}
	if err != nil || opts.DryRun {
		return out, err
	}
	ctx, posted := telemetry.Step(ctx, "post")
	err = r.post(ctx, pr, p, &out)
	posted(err)
	return out, err
}

// Prompts are the instructions and prompts of a session that would review pr now.
func (r *Reviewer) Prompts(ctx context.Context, pr forge.PullRequest) (instructions string, turns []Prompt, err error) {
	p, tree, err := r.prepare(ctx, pr, Options{})
	if err != nil {
		return "", nil, err
	}
	defer tree.Release()
	defer p.Close(ctx)
	return p.Instructions(), p.Prompts(), nil
}

// prepare makes everything ready for a session that reviews pr, in a worktree that the caller must release.
func (r *Reviewer) prepare(ctx context.Context, pr forge.PullRequest, opts Options) (p *Prepared, tree *worktree.Tree, err error) {
	ctx, prepared := telemetry.Step(ctx, "prepare")
	defer func() { prepared(err) }()
	if tree, err = r.acquire(ctx, pr, string(decide.Reviewer)); err != nil {
		return nil, nil, err
	}
	subject, err := r.subject(ctx, pr, tree, opts)
	if err == nil {
		p, err = r.Prepare(ctx, subject)
	}
	if err != nil {
		tree.Release()
		return nil, nil, err
	}
	return p, tree, nil
}

func (r *Reviewer) acquire(ctx context.Context, pr forge.PullRequest, role string) (*worktree.Tree, error) {
	request, err := r.Remote.Request(ctx, pr, role)
	if err != nil {
		return nil, err
	}
	request.Merged = true
	tree, err := r.Worktrees.Acquire(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("prepare the worktree: %w", err)
	}
	return tree, nil
}
