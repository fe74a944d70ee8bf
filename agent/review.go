package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/daemon"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

func newReview(s *settings) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "review PR",
		Short: "Review the head of one pull request",
		Long: `review does what the reviewer agent does, on one pull request, now: drafts and
pull requests that nobody asked this login to review included. A head that this
login has reviewed already is not reviewed again; its verdict is repeated.

It exits 0 on APPROVE, 10 on REQUEST_CHANGES, 20 when the model did not finish.`,
		Example: "  agent review 12 --repo acme/app\n  agent review https://github.com/acme/app/pull/12 --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.once(cmd, args[0], verdict.Reviewer, func(ctx context.Context, a *daemon.Agent, pr forge.PullRequest) error {
				switch {
				case strings.EqualFold(pr.Author.Login, pr.Viewer):
					return fmt.Errorf("%s is %s's own and GitHub lets nobody review their own pull request; run this with the reviewer's token", pr.Ref, pr.Viewer)
				case !pr.Open:
					return fmt.Errorf("%s is closed; there is nothing to review", pr.Ref)
				}
				out := cmd.OutOrStdout()
				if v, url, ok := reviewer.Standing(pr); ok && !dryRun {
					fmt.Fprintf(out, "%s %s was reviewed before: %s %s\n", pr.Ref, short(pr.Head.SHA), v, url)
					return verdictExit(v)
				}
				if dryRun {
					review, err := a.Reviewer.Review(ctx, pr, reviewer.Options{DryRun: true, Progress: daemon.Progress(ctx)})
					if err != nil {
						return inconclusive(err)
					}
					fmt.Fprintln(out, review.Review.Body)
					for _, c := range review.Review.Comments {
						fmt.Fprintf(out, "\n%s:%d\n%s\n", c.Path, c.Line, c.Body)
					}
					return verdictExit(review.Record.Verdict)
				}
				step, err := a.Act(ctx, pr, verdict.Action{Kind: verdict.Review, SHA: pr.Head.SHA, Reason: "asked for by hand"})
				if err != nil {
					return inconclusive(err)
				}
				fmt.Fprintf(out, "%s %s: %s, %d findings %s\n", pr.Ref, short(pr.Head.SHA), step.Verdict, step.Findings, step.URL)
				return verdictExit(step.Verdict)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the review instead of posting it")
	return cmd
}

// inconclusive gives a session that did not finish its exit code.
func inconclusive(err error) error {
	var session *engine.Error
	if errors.As(err, &session) {
		return exit{exitInconclusive, fmt.Errorf("the model did not finish and nothing was posted: %w", err)}
	}
	return err
}

func verdictExit(v verdict.Verdict) error {
	if v == verdict.Approve {
		return nil
	}
	return exit{code: exitRequestChanges}
}

func short(sha string) string { return sha[:min(len(sha), 7)] }
