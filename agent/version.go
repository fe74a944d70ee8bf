package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/version"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(cmd.OutOrStdout(), "touchstone %s\n", version.Build())
			return nil
		},
	}
}
