package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func newFix(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use:   "fix PR",
		Short: "Apply the review of one of your pull requests and push the result",
		Long: `fix does now, for one pull request of this login, what the author agent does: it
merges the base into a worktree of the branch, has the model apply the review
and fix failed checks, commits, and pushes, fast-forward only. It also works on
drafts and on pull requests that a label holds.`,
		Example: "  touchstone fix 12 --repo acme/app",
		Args:    cli.OnePull,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.Once(cmd, args[0], decide.Author, true, func(ctx context.Context, a *worker.Agent, pr forge.PullRequest) error {
				switch {
				case !verdict.SameLogin(pr.Author.Login, pr.Viewer):
					return fmt.Errorf("%s belongs to %s; fix pushes only to %s's own pull requests", pr.Ref, pr.Author.Login, pr.Viewer)
				case !pr.Open:
					return fmt.Errorf("%s is closed; there is nothing to fix", pr.Ref)
				case pr.Fork:
					return fmt.Errorf("%s comes from a fork, and fix does not push to forks; push to its branch yourself", pr.Ref)
				case pr.SameBranch != "":
					return fmt.Errorf("%s shares its branch %s with %s, so a fix would merge the base of one into both; close one of them, or give it "+
						"its own branch", pr.Ref, pr.Head.Name, pr.SameBranch)
				case pr.Shared:
					return fmt.Errorf("%s comes from %s, which other branches are built on, and fix does not push to such a branch; push to it "+
						"yourself", pr.Ref, pr.Head.Name)
				}
				step, err := a.Act(ctx, pr, decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA, Reason: "asked for by hand"})
				if err != nil {
					return cli.Inconclusive(err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: pushed %s on top of %s\n", pr.Ref, verdict.Short(step.Head), verdict.Short(pr.Head.SHA))
				return nil
			})
		},
	}
}
