package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/board"
	"touchstone/agent/cli"
)

func newQueue(s *cli.Settings) *cobra.Command {
	var reviewers []string
	var format, login string
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show what waits for you",
		Long: `queue lists the open pull requests that wait for you, your other ones with whose
turn it is and why, and those that need any person.

It asks the relay, which knows all of them. Without a relay, or if it does not
answer, it reads at most 100 from GitHub, the last changed first.`,
		Example: "  touchstone queue\n  touchstone queue --login octocat --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, github, err := s.Onlooker(cmd, reviewers)
			if err != nil {
				return err
			}
			if login == "" {
				if login, err = github.Viewer(cmd.Context()); err != nil {
					return fmt.Errorf("find out whose queue to show: %w; give --login to name the login", err)
				}
			}
			pulls, partial, err := cli.OpenPulls(cmd, cfg, github, s.Repos)
			if err != nil {
				return err
			}
			queue := board.QueueOf(login, pulls)
			queue.Partial = partial
			return cli.Print(cmd.OutOrStdout(), format, queue)
		},
	}
	cli.BindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().StringVar(&login, "login", "", "whose queue (default: the login that GITHUB_TOKEN belongs to)")
	return cmd
}
