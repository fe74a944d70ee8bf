// Package manual orders a program's help, fits it to a terminal and writes its manual pages. It stores nothing.
package manual

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Width is the number of columns for help texts.
const Width = 80

// Fit wraps the flags in the help of a program and of all its commands. Other lines stay as they are written.
func Fit(root *cobra.Command) {
	root.SetUsageTemplate(strings.NewReplacer(
		"Flags.FlagUsages ", fmt.Sprintf("Flags.FlagUsagesWrapped %d ", Width), " for more information about a command.", " tells more.",
		"Use \"{{.CommandPath}}", "\"{{.CommandPath}}",
	).Replace(root.UsageTemplate()))
}

// Group adds commands to the program under a heading in its help.
func Group(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
		root.AddCommand(cmd)
	}
}

// Command writes the manual pages for packages, made from the same texts as --help. Each page has the title
// in its header and the version in its footer.
func Command(title, version string) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of this program and its commands into a directory",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name the directory that the pages are written to, such as ~/.local/share/man/man1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true // the tag would be the day of the build
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: title, Source: version}, args[0])
		},
	}
}
