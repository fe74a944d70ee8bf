package daemon

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"touchstone/worktree"
)

// clearing is the interval between two checks of how much space the worktrees use.
const clearing = 6 * time.Hour

// clear keeps the worktrees of this machine within their limits.
func (d *Daemon) clear(ctx context.Context) {
	for sleep(ctx, clearing, nil) {
		limits := d.Agent.Config().Worktrees
		done, err := d.Agent.Worktrees.Collect(ctx, worktree.Limits{
			Now: d.Agent.now(), Unused: limits.Unused.Duration(), Bytes: int64(limits.MaxGB) << 30,
		})
		log := zerolog.Ctx(ctx)
		switch most := int64(limits.MaxGB) << 30; {
		case ctx.Err() != nil:
		case err != nil:
			log.Warn().Err(err).Msg("the worktrees could not be cleared up")
		case most > 0 && done.Bytes > most:
			log.Warn().Int64("bytes", done.Bytes).Int("max_gb", limits.MaxGB).
				Msg("the repositories' mirrors and the worktrees in use take more than worktrees.max_gb allows; raise it, or look after fewer " +
					"repositories here")
		case len(done.Trees) > 0:
			log.Info().Strs("trees", done.Trees).Int64("bytes", done.Bytes).Msg("gave up worktrees that nobody used")
		}
	}
}
