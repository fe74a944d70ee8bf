package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/verdict"
)

func newRun(s *settings) *cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use:   "run --mode reviewer|author",
		Short: "Stay on and do what open pull requests need",
		Long: `run follows the relay and keeps at work until it is stopped.

As reviewer it reviews each new commit of the pull requests that its login is
asked to review. As author it applies the reviews of its own login's pull
requests, pushes the fixes, and squash-merges what is approved and green. The two
need different logins, since GitHub lets nobody approve their own pull request.

It can be stopped and started at any time: what is to be done is read from GitHub.
While it runs it takes over what changes in agent.yaml, and says what it cannot.`,
		Example: "  agent run --mode reviewer\n  agent run --mode author --repo acme/app",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			role := verdict.Role(mode)
			if role != verdict.Reviewer && role != verdict.Author {
				return usage(cmd, fmt.Errorf("--mode is %q but has to be reviewer or author", mode))
			}
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			ctx := s.logger(cmd.Context(), cfg)
			d, closeAll, err := daemon.New(ctx, cfg, role, version())
			if err != nil {
				return err
			}
			defer closeAll()
			d.Reload = func() (config.Config, error) {
				cfg, err := s.load(cmd)
				if err == nil {
					logLevel(cfg)
				}
				return cfg, err
			}
			return d.Run(ctx)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "reviewer or author")
	return cmd
}
