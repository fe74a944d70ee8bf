package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"touchstone/worktree/build"
)

// manCommand writes the manual pages that packages carry. They are made from the same texts as --help.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of touchstone-relay and its commands into a directory",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("name the directory that the pages are written to, such as ~/.local/share/man/man1")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true // which is the day of the build
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "Touchstone relay", Source: build.Version()}, args[0])
		},
	}
}
