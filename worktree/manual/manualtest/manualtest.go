// Package manualtest checks the help texts of programs.
package manualtest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// generated are commands with cobra's own help.
var generated = []string{"completion", "help"}

// Fits fails if a line in the help of a program or of one of its commands exceeds this number of columns.
func Fits(t *testing.T, root *cobra.Command, columns int) {
	t.Helper()
	commands := []*cobra.Command{root}
	for len(commands) > 0 {
		cmd := commands[0]
		commands = append(commands[1:], slices.DeleteFunc(slices.Clone(cmd.Commands()), func(sub *cobra.Command) bool {
			return slices.Contains(generated, sub.Name())
		})...)
		var help bytes.Buffer
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(help.String()) {
			if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > columns {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), width, line)
			}
		}
	}
}
