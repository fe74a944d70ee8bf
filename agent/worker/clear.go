package worker

import (
	"context"

	"github.com/rs/zerolog"

	"touchstone/worktree"
)

// Clear keeps the worktrees of this machine within their limits.
func (a *Agent) Clear(ctx context.Context) {
	limits := a.Config().Worktrees
	done, err := a.Worktrees.Collect(ctx, worktree.Limits{
		Now: a.now(), Unused: limits.Unused.Duration(), Bytes: int64(limits.MaxGB) << 30,
	})
	log := zerolog.Ctx(ctx)
	switch most := int64(limits.MaxGB) << 30; {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn().Err(err).Msg("cannot clean up the worktrees")
	case most > 0 && done.Bytes > most:
		log.Warn().Int64("bytes", done.Bytes).Int("max_gb", limits.MaxGB).
			Msg("the repositories' mirrors and the worktrees in use take more than worktrees.max_gb allows; raise it, or configure fewer " +
				"repositories here")
	case len(done.Trees) > 0:
		log.Info().Strs("trees", done.Trees).Int64("bytes", done.Bytes).Msg("removed unused worktrees")
	}
}
