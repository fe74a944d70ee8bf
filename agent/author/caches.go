package author

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"touchstone/agent/engine/session"
)

// baseRole is the role of the worktree in which the base is built, where no session ever is.
const baseRole = "base"

// warm has builds in the worktree begin with what builds of the base have downloaded and made,
// which it brings about first where nobody has for long. Where that fails, they begin with nothing.
func (r *repair) warm(ctx context.Context, use session.Use) {
	if len(r.verify.Command) == 0 {
		return // nothing that would fill them
	}
	err := session.FillBaseCaches(r.tree.Dir(), func(caches string) error {
		return step(ctx, "build base", func(ctx context.Context) error { return r.buildBase(ctx, caches) })
	})
	if err = errors.Join(err, session.SeedCaches(r.tree.Dir(), use)); err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("builds begin without what builds of the base have made")
	}
}

// buildBase runs the verify command on the base branch. What that finds is of no interest, but
// what it compiles is.
func (r *repair) buildBase(ctx context.Context, caches string) (err error) {
	request := r.author.request(r.begun)
	request.Role, request.Head, request.HeadRef = baseRole, request.Base, request.BaseRef
	tree, err := r.author.Worktrees.Acquire(ctx, request)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, tree.Release(), r.author.Worktrees.Remove(context.WithoutCancel(ctx), request.Repo, request.Number, baseRole))
	}()
	err = r.author.execute(ctx, ErrUnverified, tree.Dir(), caches, r.verify.Command, r.verify.Timeout.Duration())
	if errors.Is(err, ErrUnverified) {
		return nil
	}
	return err
}
