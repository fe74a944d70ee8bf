package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"touchstone/agent/audit"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
)

func newWhy(s *settings) *cobra.Command {
	var reviewers []string
	var format string
	cmd := &cobra.Command{
		Use:   "why PR",
		Short: "Show why a pull request was merged, or why it was not",
		Long: `why draws up the evidence on one pull request from GitHub alone, so that it reads
the same on any machine: every commit, every review with its verdict, guidelines
and cost, what became of each finding, who waived, lifted or ordered what, the
checks, and what stands in the way of a merge, or what a merge lacked.

A review's record counts only if a configured reviewer posted and signed it, with a
key that this machine knows, and nobody has edited it since. What does not fit together is said first: reviews and orders that
were edited, reviewed commits that were pushed away by force, deleted comments.`,
		Example: "  touchstone why 12 --repo acme/app\n  touchstone why https://github.com/acme/app/pull/12 --reviewer review-bot --format json",
		Args:    onePull,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, client, err := s.onlooker(cmd, reviewers, format)
			if err != nil {
				return err
			}
			var repo forge.Repo
			if len(cfg.Repositories) == 1 {
				if repo, err = forge.ParseRepo(cfg.Repositories[0]); err != nil {
					return err
				}
			}
			ref, err := forge.ParseRef(args[0], repo)
			if err != nil {
				return usage(cmd, err)
			}
			book, err := daemon.Trusted(config.NewLive(cfg, nil))
			if err != nil {
				return err
			}
			chain, err := audit.Gather(cmd.Context(), client, ref, audit.Settings{
				Reviewers: cfg.Reviewers, Trust: book, Rights: cfg.Rights, State: daemon.Onlooker{Read: client, Config: cfg, Trust: book}.State,
			})
			if err != nil {
				return err
			}
			return tell(cmd.OutOrStdout(), format, chain)
		},
	}
	bindOnlooker(cmd, &reviewers, &format)
	return cmd
}

// bindOnlooker adds the flags of the commands that only look at GitHub.
func bindOnlooker(cmd *cobra.Command, reviewers *[]string, format *string) {
	cmd.Flags().StringArrayVar(reviewers, "reviewer", nil,
		"`login` whose reviews count, in place of the configured ones; may be given more than once")
	cmd.Flags().StringVar(format, "format", "text", "text or json")
}

// onlooker reads the configuration of a command that only looks at GitHub and needs no model.
func (s *settings) onlooker(cmd *cobra.Command, reviewers []string, format string) (config.Config, *forge.Client, error) {
	if format != "text" && format != "json" {
		return config.Config{}, nil, usage(cmd, fmt.Errorf("--format is %q but has to be text or json", format))
	}
	cfg, err := s.load(cmd)
	if err != nil {
		return cfg, nil, err
	}
	if len(reviewers) > 0 {
		cfg.Reviewers = reviewers
	}
	if len(cfg.Reviewers) == 0 {
		return cfg, nil, config.Mistake{Err: errors.New("whose reviews count is not known: list the logins under `reviewers` in the " +
			"configuration, or give --reviewer login")}
	}
	client, err := daemon.Client(cfg, version())
	return cfg, client, err
}

// tell writes what a command found out.
func tell(to io.Writer, format string, what interface{ Write(io.Writer) error }) error {
	if format == "text" {
		return what.Write(to)
	}
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(what)
}
