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
// which it builds first if there are none, or only old ones. Where that fails, they begin with
// nothing.
func (r *repair) warm(ctx context.Context, use session.Use) {
	if len(r.verify.Command) == 0 {
		return // nothing that would fill them
	}
	var failed *failure
	err := session.FillBaseCaches(r.tree.Dir(), func(caches string) error {
		zerolog.Ctx(ctx).Info().Msg("the base is built once, so that what fixes of this repository build begins with that")
		err := step(ctx, "build base", func(ctx context.Context) error { return r.buildBase(ctx, caches) })
		if errors.As(err, &failed) {
			return nil // what it compiled serves all the same
		}
		return err
	})
	if err = errors.Join(err, session.SeedCaches(r.tree.Dir(), use)); err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("builds begin without what builds of the base have made")
	}
}

// verifyBase says how the verify command fails on the base, where it does. Where that cannot be
// told, it counts as passing there.
func (r *repair) verifyBase(ctx context.Context) *failure {
	zerolog.Ctx(ctx).Info().Msg("verify runs on the base, to tell whether it fails there as well")
	failed, err := r.runOnBase(ctx)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("whether verify fails on the base as well is not known")
	}
	return failed
}

// runOnBase runs the verify command on the base, and says how it failed, if it did.
func (r *repair) runOnBase(ctx context.Context) (failed *failure, err error) {
	err = step(ctx, "verify base", func(ctx context.Context) error {
		return r.buildBase(ctx, session.Caches(r.tree.Dir(), session.ForVerify))
	})
	if errors.As(err, &failed) {
		err = nil
	}
	return failed, err
}

// buildBase runs the verify command on the base branch, and keeps what its tests report.
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
	reports, err := r.verifyIn(ctx, tree.Dir(), caches)
	if f := (*failure)(nil); len(r.verify.Reports) > 0 && (err == nil || errors.As(err, &f)) {
		err = errors.Join(err, r.keepReports(ctx, reports))
	}
	return err
}
