package main

import (
	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/worktree/span"
)

func newGuidelinesStats(s *cli.Settings) *cobra.Command {
	var reviewers []string
	var format string
	since := span.Duration(30 * cli.Day)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what became of the findings of each rule",
		Long: `stats reads the records of the reviews on GitHub and counts, for each rule, its
findings and what became of them: how many held (they were fixed, or survived a
dispute), how many were wrong (refuted by a second session, withdrawn, or
waived) and their share, how many were upheld against a dispute, came back after
a fix, or could have been found earlier. It also counts the thumbs up and down
on their comments, the reviews that contain them, and their share of the cost of
these. With several repositories or models, each has a line. Reviews count as in
touchstone why.`,
		Example: "  touchstone guidelines stats --since 90d\n  touchstone guidelines stats --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := s.History(cmd, since, reviewers)
			if err != nil {
				return err
			}
			stats, err := h.Rows(cmd)
			if err != nil {
				return err
			}
			return cli.Print(cmd.OutOrStdout(), format, stats)
		},
	}
	cli.BindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().Var(&since, "since", "how far to look back, such as 7d or 36h")
	return cmd
}
