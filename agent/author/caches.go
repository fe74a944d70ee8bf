package author

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"touchstone/agent/engine/session"
)

// baseRole is the role of the worktree in which the base is built. No session ever runs in it.
const baseRole = "base"

// warm seeds the build caches of the worktree with those of the base. If the base has none, or only old ones,
// it builds the base first. If that fails, the caches start empty.
func (r *repair) warm(ctx context.Context, use session.Use) {
	if len(r.verify.Command) == 0 {
		return // no command would fill the caches
	}
	err := session.FillBaseCaches(r.tree.Dir(), func(caches string) error {
		zerolog.Ctx(ctx).Info().Msg("the base is built once, so that what fixes of this repository build begins with that")
		err := step(ctx, "build base", func(ctx context.Context) error { return r.buildBase(ctx, caches) })
		if _, ok := errors.AsType[*failure](err); ok {
			return nil // what was compiled before the failure is still of use
		}
		return err
	})
	if err = errors.Join(err, session.SeedCaches(r.tree.Dir(), use)); err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("builds begin without what builds of the base have made")
	}
}

// verifyBase returns how the verify command fails on the base, or nil. If that cannot be determined, it
// counts as passing.
func (r *repair) verifyBase(ctx context.Context) *failure {
	zerolog.Ctx(ctx).Info().Msg("verify runs on the base, to tell whether it fails there as well")
	failed, err := r.runOnBase(ctx)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("whether verify fails on the base as well is not known")
	}
	return failed
}

// runOnBase runs the verify command on the base, and returns how it failed, if it did.
func (r *repair) runOnBase(ctx context.Context) (failed *failure, err error) {
	err = step(ctx, "verify base", func(ctx context.Context) error {
		return r.buildBase(ctx, session.Caches(r.tree.Dir(), session.ForVerify))
	})
	if errors.As(err, &failed) {
		err = nil
	}
	return failed, err
}

// buildBase runs the verify command on the base branch, and stores its test reports.
func (r *repair) buildBase(ctx context.Context, caches string) (err error) {
	request, err := r.author.request(ctx, r.begun)
	if err != nil {
		return err
	}
	request.Role, request.Head, request.HeadRef = baseRole, request.Base, request.BaseRef
	tree, err := r.author.Worktrees.Acquire(ctx, request)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, tree.Release(), r.author.Worktrees.Remove(context.WithoutCancel(ctx), request.Repo, request.Number, baseRole))
	}()
	reports, err := r.verifyIn(ctx, tree, caches)
	if f := (*failure)(nil); len(r.verify.Reports) > 0 && (err == nil || errors.As(err, &f)) {
		err = errors.Join(err, r.keepReports(ctx, reports))
	}
	return err
}
