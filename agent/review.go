package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/forge"
	"touchstone/agent/local"
	"touchstone/agent/pull"
	"touchstone/agent/reviewer"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func newReview(s *cli.Settings) *cobra.Command {
	var l local.Review
	var here, dryRun bool
	cmd := &cobra.Command{
		Use:   "review PR | review --local",
		Short: "Review the head of one pull request, or what a clone holds",
		Long: `review does now, for one pull request, what the reviewer agent does. It also
reviews drafts and pull requests that nobody asked this login to review. If this
login has already reviewed the head, it does not review it again and prints the
verdict.

With --local it reviews the working tree of the clone around the current
directory, with untracked files and without ignored ones, or, with --staged,
what is staged. It compares that with the commit at which it branched off
--base. It uses the same guidelines, prompts and guard, without GitHub, and
changes nothing in the clone. It prints the review, and on a terminal its
progress.

With --dry-run it posts nothing, so any login that can read the pull request may
run it, its author's too.

It exits 0 on APPROVE, 10 on REQUEST_CHANGES, 20 when the model did not finish
or somebody stopped it.`,
		Example: `  touchstone review 12 --repo acme/app
  touchstone review https://github.com/acme/app/pull/12 --dry-run
  touchstone review --local --base origin/main
  touchstone review --local --staged --format sarif > review.sarif
  touchstone review --local --show-prompt           # only print the prompts`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case here && len(args) > 0:
				return errors.New("--local reviews this clone; give either --local or a pull request")
			case !here && (l.Base != "" || l.Staged):
				return errors.New("--base and --staged apply to a clone only; add --local")
			case !here && len(args) == 0:
				return errors.New("what to review is missing: write a pull request as 12, owner/name#12 or the address of its page, or --local for " +
					"this clone")
			case here:
				return nil
			}
			return cli.OnePull(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(here, dryRun); err != nil {
				return cli.Usage(cmd, err)
			}
			if !here {
				return s.Once(cmd, args[0], decide.Reviewer, !dryRun, func(ctx context.Context, a *worker.Agent, pr forge.PullRequest) error {
					return reviewPull(ctx, cmd, a, pr, l, dryRun)
				})
			}
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			cmd.SetContext(s.Logger(cmd.Context(), cfg))
			return l.Run(cmd, cfg)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&dryRun, "dry-run", false, "print the review of a pull request instead of posting it")
	flags.BoolVar(&here, "local", false, "review the clone around the current directory")
	flags.StringVar(&l.Base, "base", "", "with --local: `REV` to compare with (default origin's default branch, else main or master)")
	flags.BoolVar(&l.Staged, "staged", false, "with --local: review what is staged")
	flags.StringVar(&l.Format, "format", "text", "the format of a printed review: text, json, sarif or markdown")
	flags.BoolVar(&l.Prompts, "show-prompt", false, "with --local or --dry-run: print the prompts, and run no model")
	return cmd
}

// reviewPull reviews a pull request.
func reviewPull(ctx context.Context, cmd *cobra.Command, a *worker.Agent, pr forge.PullRequest, l local.Review, dryRun bool) error {
	out := cmd.OutOrStdout()
	switch {
	case !dryRun && verdict.SameLogin(pr.Author.Login, pr.Viewer):
		return fmt.Errorf("%s belongs to %s, and GitHub lets nobody review their own pull request; run this with the reviewer's token", pr.Ref,
			pr.Viewer)
	case !pr.Open:
		return fmt.Errorf("%s is closed; there is nothing to review", pr.Ref)
	case l.Prompts:
		instructions, prompts, err := a.Reviewer.Prompts(ctx, pr)
		if err != nil {
			return err
		}
		return local.PrintPrompts(out, instructions, prompts)
	case dryRun:
		outcome, err := a.Reviewer.Review(ctx, pr, reviewer.Options{
			DryRun: true, Progress: cli.Progress(cmd.ErrOrStderr()), Allowance: pull.BudgetsOf(a.Config()).Round,
		})
		if err != nil {
			return cli.Inconclusive(err)
		}
		return local.Print(out, pr.Ref.String(), outcome, l.Format)
	}
	if v, url, ok := reviewer.Standing(pr); ok {
		fmt.Fprintf(out, "%s %s was reviewed before: %s %s\n", pr.Ref, verdict.Short(pr.Head.SHA), v, url)
		return cli.VerdictExit(v)
	}
	step, err := a.Act(ctx, pr, decide.Action{Kind: decide.Review, SHA: pr.Head.SHA, Reason: "asked for by hand"})
	if err != nil {
		return cli.Inconclusive(err)
	}
	fmt.Fprintf(out, "%s %s: %s, %s %s\n", pr.Ref, verdict.Short(pr.Head.SHA), step.Verdict, step.Sum, step.URL)
	return cli.VerdictExit(step.Verdict)
}
