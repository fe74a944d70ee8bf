package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/clone"
	"touchstone/agent/impact"
	"touchstone/agent/tempdir"
)

// impactFormats are the output formats of a sheet.
var impactFormats = map[string]func(impact.Sheet) (string, error){
	"text": func(s impact.Sheet) (string, error) {
		same := func(text string) string { return text }
		return s.Text(same, same), nil
	},
	"json": func(s impact.Sheet) (string, error) {
		out, err := json.MarshalIndent(s, "", "  ")
		return string(out) + "\n", err
	},
	"mermaid": func(s impact.Sheet) (string, error) { return s.Mermaid(), nil },
	"dot":     func(s impact.Sheet) (string, error) { return s.DOT(), nil },
}

func newImpact(s *cli.Settings) *cobra.Command {
	var base, format string
	cmd := &cobra.Command{
		Use:   "impact",
		Short: "List who uses what a change touches, without a model",
		Long: `impact examines what merging the clone around the current directory into --base
would change. For each name that the change touches (a function, a field, a
setting, a route, a file) it lists the places outside the change that use it:
callers, overrides, tests, documents, configuration, CI. For what is removed or
renamed it lists what still refers to it, and for fields that the changed lines
read or write, who else does. Below it shows the functions around these places
and the definitions of what the changed lines use, and lists imports and code
that is written like a removed line. A review's session is given the same list.

In Go, the types in the repository's own sources determine which field or method
a name means. Everything else is found by name, in the working tree with
untracked files and without ignored ones: a list of places to look at, and no
proof that there are no others. It runs nothing of the clone.`,
		Example: `  touchstone impact
  touchstone impact --base origin/main --format mermaid`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			dir, err := tempdir.Open(ctx, cfg.StateDir)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, dir.Close()) }()
			c, err := clone.Open(ctx)
			if err != nil {
				return err
			}
			if base, err = c.Base(ctx, base); err != nil {
				return err
			}
			b, err := c.Borrow(ctx, dir.Path, base, clone.Working)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			diff, err := b.Diff(ctx)
			if err != nil {
				return fmt.Errorf("read the change: %w", err)
			}
			sheet, err := impact.Make(ctx, impact.Source{Diff: diff, Files: b})
			if err != nil {
				return fmt.Errorf("find who uses what the change touches: %w", err)
			}
			text, err := impactFormats[format](sheet)
			if err != nil {
				return fmt.Errorf("print the sheet: %w", err)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "`REV` to compare with (default origin's default branch, else main or master)")
	cmd.Flags().StringVar(&format, "format", "text", "text, json for programs, or a graph: mermaid or dot")
	return cmd
}
