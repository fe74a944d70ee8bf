package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/remoteguidelines"
	"touchstone/guidelines"
	"touchstone/verdict"
)

func newGuidelinesLint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint [DIR...]",
		Short: "Find problems in guideline documents",
		Long: `lint reads the documents of each directory, the outermost layer first, puts them
over the built-in ones and prints each problem as file:line: sentence: rows that
cannot be read, scopes that cannot be decided or match nothing, missing
severities, duplicate ids, rows that contradict or repeat each other, changes of
rows that do not exist, and rules hidden in prose.

Without a directory it reads ` + guidelineDir + ` here. It exits 1 if it
finds a problem. Like a review, it reads no document through a symbolic link,
none of more than 1 MiB, and not more than 100.`,
		Example: "  touchstone guidelines lint\n  touchstone guidelines lint ../acme-guidelines .touchstone/guidelines",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			set, err := guidelines.Default()
			if err != nil {
				return err
			}
			if len(dirs) == 0 {
				dirs = []string{filepath.FromSlash(guidelineDir)}
			}
			read, wrong := 0, 0
			for _, dir := range dirs {
				texts, err := remoteguidelines.ReadDir(dir)
				if info, missing := os.Stat(dir); err != nil && (missing != nil || !info.IsDir()) {
					return cli.Usage(cmd, err)
				}
				if err != nil {
					return err
				}
				var problems []guidelines.Problem
				set, problems = set.Lint(texts)
				for _, p := range problems {
					fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: %s\n", filepath.Join(dir, p.Document+".md"), p.Line, p.Text)
				}
				read, wrong = read+len(texts), wrong+len(problems)
			}
			if wrong > 0 {
				return fmt.Errorf("the guidelines have %s in %s", verdict.Amount(wrong, "problem", "problems"),
					verdict.Amount(read, "document", "documents"))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "no problem found in %s (guidelines %s)\n", verdict.Amount(read, "document", "documents"),
				set.Version())
			return nil
		},
	}
}
