package main

import (
	"context"
	"fmt"
	"net"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/telemetry"
)

func newRun(s *cli.Settings) *cobra.Command {
	var mode string
	var autoMerge bool
	var one cli.Single
	cmd := &cobra.Command{
		Use:   "run --mode reviewer|author | --pr PR",
		Short: "Keep running and do what open pull requests need",
		Long: `run follows the relay and works until it is stopped.

As reviewer it reviews each new commit of the pull requests that its login is
asked to review. As author it applies the reviews of its own login's pull
requests, pushes the fixes, and squash-merges what is approved and green; with
--auto-merge=false it says once that a pull request waits for its author. The
two modes need different logins, since GitHub lets nobody approve their own pull
request.

With --pr it looks after that one pull request until it is merged or closed, or
needs a person, and ignores all others. Its role is that of the login that
GITHUB_TOKEN belongs to, unless --mode says otherwise. --with names the
agent.yaml of another login, and then one process takes both roles.

You can stop and start it at any time: it reads from GitHub what is to be done.
While it runs, it applies changes in agent.yaml, and says which ones it cannot
apply.`,
		Example: "  touchstone run --mode reviewer\n  touchstone run --mode author --repo acme/app\n  touchstone run --pr acme/app#12 --with " +
			"reviewer.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if one.PR != "" {
				return cli.RunOne(cmd, s, one, mode, autoMerge)
			}
			role, err := cli.Role(cmd, mode)
			if err != nil {
				return err
			}
			load := func() (config.Config, error) {
				cfg, err := s.Load(cmd)
				cfg.Merge.Auto = cfg.Merge.Auto && autoMerge
				return cfg, err
			}
			cfg, err := load()
			if err != nil {
				return err
			}
			ctx := s.Logger(cmd.Context(), cfg)
			d, closeAll, err := compose.New(ctx, cfg, role)
			if err != nil {
				return err
			}
			defer closeAll()
			d.Reload = func() (config.Config, error) {
				cfg, err := load()
				if err == nil {
					err = compose.CheckModels(cfg.Engine, role)
				}
				if err == nil {
					cli.LogLevel(cfg)
				}
				return cfg, err
			}
			return together(ctx, cfg.Metrics.Listen, d)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "reviewer or author")
	cmd.Flags().StringVar(&one.PR, "pr", "", "look after this pull request only, and end with it")
	cmd.Flags().StringVar(&one.With, "with", "", "with --pr, the configuration `file` of the login that takes the other role")
	cmd.Flags().BoolVar(&autoMerge, "auto-merge", true,
		"as author, merge what is approved and green, unless the configuration leaves that to people")
	return cmd
}

// together runs the daemon and, if an address is given, serves its metrics there.
func together(ctx context.Context, address string, d *daemon.Daemon) error {
	if address == "" {
		return d.Run(ctx)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serve the metrics at %s, which metrics.listen names: %w; check that no other agent uses that address", address, err)
	}
	zerolog.Ctx(ctx).Info().Stringer("address", listener.Addr()).Msg("metrics are at /metrics")
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return d.Run(ctx) })
	all.Go(func() error { return telemetry.Serve(ctx, listener) })
	return all.Wait()
}
