package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/worktree/build"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version this binary was built from",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "touchstone-relay %s\n", build.String())
			return err
		},
	}
}
