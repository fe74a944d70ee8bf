package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/status"
	"touchstone/agent/terminal"
)

func newStatus(s *cli.Settings) *cobra.Command {
	var format string
	var watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what the agents of this machine did last and are doing now",
		Long: `status reads the journals of this machine's agents, running or not. It prints
what each agent does now, its newest entries without waits that are over, which
models a running agent does not use for a while because they did not answer, and
what stops it from working at all, such as a full disk. It asks the relay which
models are chosen for all agents. Entries say what was so at their time:
touchstone queue says what each pull request waits for now, and touchstone why
all that blocks one.

With --watch it stays on the screen until it is interrupted, with the open pull
requests and the other machines that the relay knows.`,
		Example: "  touchstone status\n  touchstone status --watch\n  touchstone status --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Read(s.ConfigPath, os.Getenv)
			if err == nil {
				err = cfg.ReadRelayToken(os.Getenv)
			}
			if err != nil {
				return config.Mistake{Err: err}
			}
			out := cmd.OutOrStdout()
			if watch {
				if format != "text" || !terminal.Is(out) {
					return cli.Usage(cmd, errors.New("--watch needs a terminal, and this is not one; leave it out, or run status repeatedly "+
						"with --format json"))
				}
				return status.Watch(cmd.Context(), out, cfg, s.Repos)
			}
			machine, err := status.Read(cfg, status.Entries)
			if err != nil {
				return err
			}
			machine.Relay = status.ChosenForAll(cmd.Context(), cfg)
			return cli.Print(out, format, machine)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().BoolVar(&watch, "watch", false, "stay on the screen and show what changes")
	return cmd
}
