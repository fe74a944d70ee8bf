package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/config"
)

func newConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print an agent.yaml that explains every key",
		Long: `config prints a configuration file with every key, what it does and its default.
Write it to ~/.config/touchstone/agent.yaml (on Windows
%APPDATA%\touchstone\agent.yaml), name your repositories and reviewers, and
delete the keys that you do not change.`,
		Example: "  mkdir -p ~/.config/touchstone\n  touchstone config >~/.config/touchstone/agent.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), config.Example)
			return err
		},
	}
}
