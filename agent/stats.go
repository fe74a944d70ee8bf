package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/evidence"
	"touchstone/agent/forge"
)

// mostPast bounds the pull requests of one repository that are counted.
const mostPast = 5000

func newStats(s *settings) *cobra.Command {
	var reviewers []string
	var format string
	var since time.Duration
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what became of the pull requests, and what it cost",
		Long: `stats reads from GitHub what became of the pull requests of the configured
repositories: how many were merged and how fast, in how many rounds of review, what
the reviews cost, what they found in which dimension and what became of it, and how
often a person was needed. Reviews count as in agent why.`,
		Example: "  agent stats --since 168h --repo acme/app\n  agent stats --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since <= 0 {
				return usage(cmd, fmt.Errorf("--since is %s but has to be a time such as 720h", since))
			}
			cfg, client, err := s.onlooker(cmd, reviewers, format)
			if err != nil {
				return err
			}
			if len(cfg.Repositories) == 0 {
				return errors.New("no repository is configured; list them under `repositories` in agent.yaml, or give --repo owner/name")
			}
			from := time.Now().Add(-since).UTC().Truncate(time.Second)
			var all []forge.Past
			partial := false
			for _, name := range cfg.Repositories {
				repo, err := forge.ParseRepo(name)
				if err != nil {
					return err
				}
				past, more, err := client.History(cmd.Context(), repo, from, mostPast)
				if err != nil {
					return err
				}
				all, partial = append(all, past...), partial || more
			}
			stats := evidence.Count(all, from, cfg.Reviewers, cfg.Labels.NeedsHuman)
			stats.Partial = stats.Partial || partial
			return tell(cmd.OutOrStdout(), format, stats)
		},
	}
	bindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().DurationVar(&since, "since", 30*24*time.Hour, "how far to look back, in hours such as 168h")
	return cmd
}
