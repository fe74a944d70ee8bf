package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

func newMerge(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "merge PR",
		Short: "Squash-merge one of your pull requests if it is approved and green",
		Long: `merge does what the author agent does with a pull request that is ready, also
where automatic merging is off: it squash-merges the head if a configured
reviewer approved that very commit, its checks are green and it merges cleanly.
Anything else is refused with the reason.`,
		Example: "  agent merge 12 --repo acme/app",
		Args:    onePull,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.once(cmd, args[0], verdict.Author, func(ctx context.Context, a *daemon.Agent, pr forge.PullRequest) error {
				a.ByHand = true
				action, err := a.Settled(ctx, pr)
				if err != nil {
					return err
				}
				if action.Kind != verdict.Merge {
					return fmt.Errorf("%s is not merged: %s", pr.Ref, action.Reason)
				}
				step, err := a.Act(ctx, pr, action)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: merged %s as %s\n", pr.Ref, short(action.SHA), short(step.Head))
				return nil
			})
		},
	}
}
