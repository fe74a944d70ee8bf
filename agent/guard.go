package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"touchstone/verdict/guard"
)

func newGuard() *cobra.Command {
	var base, format string
	var committed bool
	cmd := &cobra.Command{
		Use:   "guard --base REV",
		Short: "Find where a change lowers the quality bar, without a model and without GitHub",
		Long: `guard compares the clone in the current directory with where it left REV (the
merge base) and names every place where the quality bar got lower:

  threshold    coverage and other limits that are easier to meet
  strictness   lint, type-check and compiler rules gone, off, milder or narrower
  suppression  code that tells a tool to look away
  test         tests deleted, skipped or emptied while what they test is still there
  assertion    tests that more results pass, snapshots rewritten wholesale
  ci           checks that no longer run, or can no longer fail
  policy       guidelines, ownership files and contributor rules weakened
  unexamined   files too large to examine, which a person has to look at

What moved, was renamed, got stricter or went together with the code it tests is
no hit. The working tree is examined, untracked files included and ignored ones
left out; with --committed it is HEAD. Nothing in the clone is changed or run,
hooks and filters included.

Exit codes: 0 no hit, 10 at least one, 20 somebody stopped it, 2 the command line is
wrong, 1 anything else.`,
		Example: `  agent guard --base origin/main
  agent guard --base origin/main --committed --format json   # in CI, where HEAD is what counts`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case base == "":
				return usage(cmd, errors.New("--base is missing: name the branch or commit to compare with, such as origin/main"))
			case format != "text" && format != "json":
				return usage(cmd, fmt.Errorf("--format is %q but has to be text or json", format))
			}
			change, err := readClone(cmd.Context(), base, committed)
			if err != nil {
				return err
			}
			hits := guard.Examine(change)
			if err := printHits(cmd.OutOrStdout(), hits, format); err != nil {
				return fmt.Errorf("print the hits: %w", err)
			}
			if len(hits) > 0 {
				return exit{code: exitRequestChanges}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "branch or commit that the change is compared with, from their merge base")
	cmd.Flags().StringVar(&format, "format", "text", "text, or json for programs")
	cmd.Flags().BoolVar(&committed, "committed", false, "examine HEAD and not the working tree")
	return cmd
}

func printHits(out io.Writer, hits []guard.Hit, format string) error {
	if format == "json" {
		type line struct {
			guard.Hit
			Rule string `json:"rule"`
		}
		lines := make([]line, len(hits))
		for i, hit := range hits {
			lines[i] = line{hit, hit.Kind.Rule()}
		}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"hits": lines})
	}
	var text strings.Builder
	for _, hit := range hits {
		fmt.Fprintf(&text, "%s:%d: %s: %s\n", visible(hit.Path), hit.Line, hit.Kind, visible(hit.Why))
		if hit.Before != "" {
			fmt.Fprintf(&text, "    - %s\n", visible(hit.Before))
		}
		if hit.After != "" {
			fmt.Fprintf(&text, "    + %s\n", visible(hit.After))
		}
	}
	switch n := len(hits); n {
	case 0:
		text.WriteString("guard: nothing here lowers the quality bar\n")
	case 1:
		text.WriteString("guard: 1 place lowers the quality bar; take it back, or let a person approve it\n")
	default:
		fmt.Fprintf(&text, "guard: %d places lower the quality bar; take them back, or let a person approve them\n", n)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// visible keeps what a change contains from steering the terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(s, "\t", " "))
}
