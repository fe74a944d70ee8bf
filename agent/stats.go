package main

import (
	"github.com/spf13/cobra"

	"touchstone/agent/audit"
	"touchstone/agent/cli"
	"touchstone/worktree/span"
)

func newStats(s *cli.Settings) *cobra.Command {
	var reviewers []string
	var format, by string
	since := span.Duration(30 * cli.Day)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what became of the pull requests, and what it cost",
		Long: `stats reads from GitHub what became of the pull requests of the configured
repositories: how many were merged and how fast, in how many rounds of review,
what the reviews cost, what they found in which dimension and what became of
that, and how often a person was needed. Reviews count as in touchstone why.

With --by it splits the numbers by the rule of the findings, by the model or the
tier of the reviews, or by the repository. A pull request may count in several
lines. The cost of a rule is its share of the reviews that cite it, as in
touchstone guidelines stats.`,
		Example: "  touchstone stats --since 7d --repo acme/app\n  touchstone stats --by model --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := s.History(cmd, since, reviewers)
			if err != nil {
				return err
			}
			if by != "" {
				rows := audit.Rows(h.Pulls, h.From, h.Config.Reviewers, nil)
				groups := audit.CountBy(audit.By(by), h.Pulls, h.From, h.Config.Reviewers, h.Config.Labels.NeedsHuman, rows)
				groups.Partial = groups.Partial || h.Partial
				return cli.Print(cmd.OutOrStdout(), format, groups)
			}
			stats := audit.Count(h.Pulls, h.From, h.Config.Reviewers, h.Config.Labels.NeedsHuman)
			stats.Partial = stats.Partial || h.Partial
			return cli.Print(cmd.OutOrStdout(), format, stats)
		},
	}
	cli.BindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().Var(&since, "since", "how far to look back, such as 7d or 36h")
	cmd.Flags().StringVar(&by, "by", "", "split the numbers by rule, model, tier or repo")
	return cmd
}
