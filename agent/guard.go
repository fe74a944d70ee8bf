package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/clone"
	"touchstone/agent/quality"
	"touchstone/agent/report"
	"touchstone/verdict/guard"
	"touchstone/verdict/guard/junit"
)

func newGuard() *cobra.Command {
	var base, format string
	var committed, all bool
	var junitBase, junitHead []string
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Find where a change lowers the quality bar, without a model",
		Long: `guard examines what merging the clone in the current directory into --base would
change. It reports what lowers the quality bar, in two tiers:

  hold      what code is certain of; a person must approve it
  evidence  what code only suspects; a review must answer it (with --all)

and of these kinds:

  threshold    coverage and other limits that are easier to meet
  strictness   lint, type-check and compiler rules removed, off or milder
  suppression  code that tells a tool to ignore something
  test         tests deleted, skipped or emptied whose subject still exists
  assertion    tests that more results pass, or that check less
  ci           checks that no longer run, or can no longer fail
  policy       guidelines, ownership files and contributor rules weakened
  unexamined   files that cannot be read, which a person must look at

A change whose title says that it leaves out a check, and that holds evidence
for it, is held for that.

It reports nothing that was moved, renamed, made stricter, rewritten without a
change of meaning, or removed together with the code that it tests. It skips
vendored and generated files. It examines the working tree with untracked files
and without ignored ones, or, with --committed, HEAD. It changes nothing in the
clone and runs nothing of it, hooks and filters included.

With --junit-base and --junit-head the test reports of both commits overrule
what the code suggests: a test that ran and passed is not lost, and a test that
passed before and is now missing, skipped or retried is found in every language.

Exit codes: 0 nothing is held, 10 something is, 20 somebody stopped it, 2 the
command line is wrong, 1 anything else.`,
		Example: `  touchstone guard
  touchstone guard --base origin/main --committed --format github # in CI
  touchstone guard --base main --junit-base 'old/*.xml' --junit-head 'new/*.xml'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(junitBase) == 0 != (len(junitHead) == 0) {
				return cli.Usage(cmd, errors.New("--junit-base and --junit-head go together: name the reports of both commits"))
			}
			runs, err := readReports(junitBase, junitHead)
			if err != nil {
				return err
			}
			c, err := clone.Open(cmd.Context())
			if err != nil {
				return err
			}
			against, err := c.Base(cmd.Context(), base)
			if err != nil {
				return err
			}
			if base == "" {
				cmd.PrintErrf("guard: comparing with %s; give --base to compare with another branch\n", against)
			}
			change, err := c.Change(cmd.Context(), against, committed)
			if err != nil {
				return err
			}
			change.Runs = runs
			found, err := quality.Examine(cmd.Context(), change)
			if err != nil {
				return err
			}
			holds := guard.Holds(found)
			shown := holds
			if all {
				shown = found
			}
			if err := report.PrintFindings(cmd.OutOrStdout(), shown, len(found)-len(holds), format); err != nil {
				return fmt.Errorf("print the findings: %w", err)
			}
			if len(holds) > 0 {
				return cli.Exit{Code: cli.ExitRequestChanges}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "base", "",
		"`REV` that the change would be merged into (default origin's default branch, else main or master)")
	cmd.Flags().StringVar(&format, "format", "text",
		"text, json for programs, sarif for code scanning, or github for a workflow's annotations")
	cmd.Flags().BoolVar(&committed, "committed", false, "examine HEAD instead of the working tree")
	cmd.Flags().StringSliceVar(&junitBase, "junit-base", nil,
		"JUnit reports of the tests at the base; may be patterns, and given more than once")
	cmd.Flags().StringSliceVar(&junitHead, "junit-head", nil, "JUnit reports of the tests at the head")
	cmd.Flags().BoolVar(&all, "all", false, "show evidence as well as holds")
	return cmd
}

// readReports reads test reports; it returns nil without reports.
func readReports(base, head []string) (*junit.Runs, error) {
	if len(base) == 0 {
		return nil, nil
	}
	before, names, err := readPatterns(base)
	if err != nil {
		return nil, err
	}
	after, more, err := readPatterns(head)
	if err != nil {
		return nil, err
	}
	runs, err := junit.Read(before, after)
	if err == nil {
		return runs, nil
	}
	names = append(names, more...)
	for i, report := range slices.Concat(before, after) {
		if _, err := junit.Read([][]byte{report}, nil); err != nil { // say which file it is, not which report in turn
			return nil, fmt.Errorf("read the test report %s: %w", names[i], errors.Unwrap(err))
		}
	}
	return nil, err
}

// readPatterns reads the files that match patterns, in the syntax of `reports` in the settings, and returns their names
// too. A pattern without a match is an error: a report that was not written must not look like lost tests.
func readPatterns(patterns []string) (out [][]byte, read []string, err error) {
	for _, pattern := range patterns {
		names, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		if err != nil || len(names) == 0 {
			return nil, nil, fmt.Errorf("no report matches %s; run the tests with a JUnit report first", pattern)
		}
		for _, name := range names {
			if out, err = appendFile(out, name); err != nil {
				return nil, nil, fmt.Errorf("read the test report %s: %w", name, err)
			}
			read = append(read, name)
		}
	}
	return out, read, nil
}

func appendFile(reports [][]byte, name string) ([][]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read from
	return junit.Append(reports, file)
}
