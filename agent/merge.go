package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func newMerge(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use:   "merge PR",
		Short: "Squash-merge one of your pull requests if it is approved and green",
		Long: `merge does what the author agent does with a pull request that is ready, even if
automatic merging is off: it squash-merges the head if a configured reviewer
approved that very commit, its checks are green and it merges cleanly. If the
base branch has a merge queue, it adds the pull request to the queue, which
merges it in its own way when its turn comes. It needs no model on this machine.
In any other case it refuses and says why.`,
		Example: "  touchstone merge 12 --repo acme/app",
		Args:    cli.OnePull,
		RunE: func(cmd *cobra.Command, args []string) error {
			do := func(ctx context.Context, a *worker.Agent, pr forge.PullRequest) error {
				action, err := a.Settled(ctx, pr)
				if err != nil {
					return err
				}
				if action.Kind != decide.Merge {
					return fmt.Errorf("%s is not merged: %s", pr.Ref, action.Reason)
				}
				step, err := a.Act(ctx, pr, action)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), merged(step))
				}
				return err
			}
			return s.With(cmd, args[0], do, func(ctx context.Context, cfg config.Config) (*worker.Agent, error) {
				return compose.NewMerger(ctx, config.NewLive(cfg, nil))
			})
		},
	}
}

// merged describes the result of a merge. A merge queue returns no commit yet.
func merged(step worker.Step) string {
	if step.Head == "" {
		return fmt.Sprintf("%s: put into the merge queue of %s at %s", step.PR.Ref, step.PR.Base.Name, verdict.Short(step.Action.SHA))
	}
	return fmt.Sprintf("%s: merged %s as %s", step.PR.Ref, verdict.Short(step.Action.SHA), verdict.Short(step.Head))
}
