package reviewer

import (
	"cmp"
	"context"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree"
)

// replayRole is the role of the worktrees of replays. It keeps them apart from those of running agents.
const replayRole = "replay"

// Replay repeats the review of an earlier round of pr with the present guidelines. It posts nothing and
// returns the new record. The session sees that round's head, base and title, without reviews and comments,
// so that it does not learn what became of the round's findings. Argument own holds the texts of the
// repository's own guideline documents to use, by name. The errors are those of Review, and
// [worktree.ErrHeadMoved] if the commits can no longer be fetched. With an error, the record still has the
// cost of the sessions.
func (r *Reviewer) Replay(ctx context.Context, pr forge.PullRequest, round verdict.Record, own map[string]string,
	opts Options) (verdict.Record, error) {
	pr = asOf(pr, round)
	tree, err := r.acquire(ctx, pr, replayRole)
	if err != nil {
		return verdict.Record{}, err
	}
	defer r.giveUp(ctx, pr, tree)
	subject, err := r.subject(ctx, pr, tree, opts)
	if err != nil {
		return verdict.Record{}, err
	}
	subject.Round, subject.Own = round.Round, own
	subject.Past = nil // what other changes have broken since then does not matter
	p, err := r.Prepare(ctx, subject)
	if err != nil {
		return verdict.Record{}, err
	}
	defer p.Close(ctx)
	x, err := p.Examine(ctx, opts.Progress, opts.Allowance)
	if err != nil {
		return verdict.Record{CostUSD: x.Result.CostUSD}, err
	}
	out, err := p.Conclude(ctx, x)
	return out.Record, err
}

// asOf is a pull request as a round saw it, without its reviews, comments and checks.
func asOf(pr forge.PullRequest, round verdict.Record) forge.PullRequest {
	pr.Title = cmp.Or(round.Title, pr.Title)
	pr.Head.SHA, pr.Base.SHA, pr.Base.Name = round.Head, round.Base, round.BaseBranch
	pr.Reviews, pr.Comments, pr.Threads, pr.Checks = nil, nil, nil, nil
	return pr
}

// giveUp removes a worktree that is no longer needed.
func (r *Reviewer) giveUp(ctx context.Context, pr forge.PullRequest, tree *worktree.Tree) {
	ctx = context.WithoutCancel(ctx)
	err := tree.Release()
	if err == nil {
		err = r.Worktrees.Remove(ctx, pr.Ref.Repo.String(), pr.Number, replayRole)
	}
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot remove the worktree of a replay; it is removed later with other unused worktrees")
	}
}
