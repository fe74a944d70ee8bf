package main

import (
	"github.com/spf13/cobra"

	"touchstone/agent/cli"
)

// newLogs is touchstone service logs under a name where people look for it.
func newLogs(s *cli.Settings) *cobra.Command {
	var mode string
	var follow bool
	cmd := &cobra.Command{
		Use:     "logs",
		Short:   "Show what an agent that runs as a service has logged",
		Example: "  touchstone logs -f",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := serviceOf(s, cmd, mode)
			if err != nil {
				return err
			}
			return showLogs(cmd, found, follow)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", modeHelp)
	bindFollow(cmd, &follow)
	return cmd
}
