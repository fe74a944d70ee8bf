package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"touchstone/agent/version"
)

// newMan writes the manual pages that packages carry. They are made from the same texts as --help.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of touchstone and its commands into a directory",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name the directory that the pages are written to, such as ~/.local/share/man/man1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true // which is the day of the build
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "Touchstone", Source: version.String()}, args[0])
		},
	}
}
