package main

import (
	"github.com/spf13/cobra"

	"touchstone/agent/audit"
	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/worker"
)

func newWhy(s *cli.Settings) *cobra.Command {
	var reviewers []string
	var format string
	cmd := &cobra.Command{
		Use:   "why PR",
		Short: "Show why a pull request was merged, or why it was not",
		Long: `why reports on one pull request from GitHub alone, so its result
is the same on any machine: every commit, every review with its verdict,
guidelines and cost, what became of each finding, who waived, lifted or ordered
what, the checks, and what blocks the merge, or was missing at the merge.

A review's record counts only if a configured reviewer posted and signed it with
a key that this machine knows, and nobody has edited it since. Inconsistencies
come first: edited reviews and orders, reviewed commits that a force push
removed, deleted comments.`,
		Example: "  touchstone why 12 --repo acme/app\n  touchstone why https://github.com/acme/app/pull/12 --format json",
		Args:    cli.OnePull,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, client, err := s.Onlooker(cmd, reviewers)
			if err != nil {
				return err
			}
			ref, err := cli.ParseRef(cmd, cfg, args[0])
			if err != nil {
				return err
			}
			book, err := compose.Trusted(config.NewLive(cfg, nil))
			if err != nil {
				return err
			}
			chain, err := audit.Gather(cmd.Context(), client, ref, audit.Settings{
				Reviewers: cfg.Reviewers, Trust: book, Rights: cfg.Rights, State: worker.Onlooker{Read: client, Config: cfg, Trust: book}.State,
			})
			if err != nil {
				return err
			}
			return cli.Print(cmd.OutOrStdout(), format, chain)
		},
	}
	cli.BindOnlooker(cmd, &reviewers, &format)
	return cmd
}
