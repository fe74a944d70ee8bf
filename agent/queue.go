package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/board"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/relay/client"
)

func newQueue(s *settings) *cobra.Command {
	var reviewers []string
	var format, login string
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show what waits for you",
		Long: `queue lists the open pull requests that wait for you, your own others with whose
turn it is and why, and those that need any person.

The relay knows them all. Without one, or where it does not answer, they are read
from GitHub, the last changed first and at most 100.`,
		Example: "  touchstone queue\n  touchstone queue --login octocat --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, github, err := s.onlooker(cmd, reviewers, format)
			if err != nil {
				return err
			}
			if login == "" {
				if login, err = github.Viewer(cmd.Context()); err != nil {
					return fmt.Errorf("find out whose queue to show: %w; or give --login", err)
				}
			}
			pulls, partial, err := openPulls(cmd, cfg, github, s.repos)
			if err != nil {
				return err
			}
			queue := board.QueueOf(login, pulls)
			queue.Partial = partial
			return tell(cmd.OutOrStdout(), format, queue)
		},
	}
	bindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().StringVar(&login, "login", "", "whose queue (default: the login that GITHUB_TOKEN belongs to)")
	return cmd
}

// relayOf is a client of the configured relay.
func relayOf(cfg config.Config) *client.Client {
	return &client.Client{URL: cfg.Relay.URL, Token: string(cfg.Relay.Token)}
}

// openPulls are the open pull requests as the relay lists them, or GitHub where no relay does;
// partial says that there are more.
func openPulls(cmd *cobra.Command, cfg config.Config, github *forge.Client, only []string) (pulls []board.Pull, partial bool, err error) {
	if cfg.Relay.URL != "" {
		if pulls, err = askRelay(cmd.Context(), cfg, only); err == nil {
			return pulls, false, nil
		}
		cmd.PrintErrf("%v; reading GitHub instead\n", err)
	}
	if len(cfg.Repositories) == 0 {
		return nil, false, config.ErrNoRepository
	}
	var repos []forge.Repo
	for _, name := range cfg.Repositories {
		repo, err := forge.ParseRepo(name)
		if err != nil {
			return nil, false, err
		}
		repos = append(repos, repo)
	}
	book, err := daemon.Trusted(config.NewLive(cfg, nil))
	if err != nil {
		return nil, false, err
	}
	judge := daemon.Onlooker{Read: github, Config: cfg, Trust: book}.State
	return board.FromGitHub(cmd.Context(), github, repos, cfg.Reviewers, judge)
}

// askRelay asks the relay for the open pull requests of repositories, or of all that it knows.
func askRelay(ctx context.Context, cfg config.Config, only []string) ([]board.Pull, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, relayPatience, fmt.Errorf("it has not answered within %s", relayPatience))
	defer cancel()
	return board.FromRelay(ctx, relayOf(cfg), only)
}
