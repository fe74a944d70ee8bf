package main

import (
	"os"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/status"
)

func newPS(s *cli.Settings) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "Show which agents run on this machine, and what each does now",
		Long: `ps prints a line for each agent of this machine: whether it runs, what it does
now and how many pull requests wait. For what they did last, see touchstone
status.`,
		Example: "  touchstone ps\n  touchstone ps --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Read(s.ConfigPath, os.Getenv)
			if err != nil {
				return config.Mistake{Err: err}
			}
			machine, err := status.Read(cfg, 0)
			if err != nil {
				return err
			}
			return cli.Print(cmd.OutOrStdout(), format, machine)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}
