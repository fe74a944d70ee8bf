// Package local reviews what a clone holds, without GitHub, and prints the review.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/clone"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/pull"
	"touchstone/agent/report"
	"touchstone/agent/reviewer"
	"touchstone/agent/tempdir"
	"touchstone/verdict"
)

// Review is a review of what a clone holds, without GitHub.
type Review struct {
	Base    string // a branch or commit; empty for the one that is likely meant
	Staged  bool
	Prompts bool   // print what a model would be told, and run none
	Format  string // of formats
}

// Check refuses flags that mean nothing together.
func (l Review) Check(here, dryRun bool) error {
	switch {
	case here && dryRun:
		return errors.New("a local review posts nothing anyway; leave out --dry-run")
	case !here && !dryRun && (l.Prompts || l.Format != "text"):
		return errors.New("this would post the review instead of printing it; add --dry-run or --local")
	case l.Prompts && l.Format != "text":
		return fmt.Errorf("--show-prompt prints prompts as text, not a review; leave out --format %s", l.Format)
	}
	return nil
}

// Run reviews the clone around the current directory and prints what comes of it.
func (l Review) Run(cmd *cobra.Command, cfg config.Config) (err error) {
	ctx := cmd.Context()
	dir, err := tempdir.Open(ctx, cfg.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	step := cli.Steps(cmd.ErrOrStderr())
	step("copying the change from the clone")
	c, err := clone.Open(ctx)
	if err != nil {
		return err
	}
	if l.Base, err = c.Base(ctx, l.Base); err != nil {
		return err
	}
	of := clone.Working
	if l.Staged {
		of = clone.Staged
	}
	b, err := c.Borrow(ctx, dir.Path, l.Base, of)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	step("reading the change")
	subject, err := l.subject(ctx, b, of)
	if err != nil {
		return err
	}
	if len(subject.Diff.Files) == 0 {
		return l.nothing(cmd, subject.Name, fmt.Sprintf("there is nothing to review: no change in %s since %s", of, l.Base))
	}
	step(fmt.Sprintf("weighing %s", verdict.Amount(len(subject.Diff.Files), "changed file", "changed files")))
	return l.examine(cmd, cfg, dir.Path, subject, step)
}

// examine has a session examine the change, which keeps its files below tempDir, and prints the
// review.
func (l Review) examine(cmd *cobra.Command, cfg config.Config, tempDir string, subject reviewer.Subject, step func(string)) error {
	ctx := cmd.Context()
	examiner, err := compose.Examiner(ctx, cfg, tempDir)
	if err != nil {
		return err
	}
	prepared, err := examiner.Prepare(ctx, subject)
	if err != nil {
		return err
	}
	defer prepared.Close(ctx)
	if l.Prompts {
		return PrintPrompts(cmd.OutOrStdout(), prepared.Instructions(), prepared.Prompts())
	}
	if _, err := examiner.Engine.Probe(ctx); err != nil {
		return err
	}
	step("starting the session with " + examiner.Engine.Name())
	x, err := prepared.Examine(ctx, cli.Progress(cmd.ErrOrStderr()), pull.BudgetsOf(cfg).Round)
	if err != nil {
		return cli.Inconclusive(err)
	}
	outcome, err := prepared.Conclude(ctx, x)
	if err != nil {
		return err
	}
	return Print(cmd.OutOrStdout(), subject.Name, outcome, l.Format)
}

// nothing says that there is nothing to review: to people beside the output, to programs in
// the form that they expect, without a verdict.
func (l Review) nothing(cmd *cobra.Command, subject, why string) error {
	if l.Format == "text" {
		fmt.Fprintln(cmd.ErrOrStderr(), why)
		return nil
	}
	r := report.Review{Subject: subject, Markdown: why}
	r.Judgement.Answer.Summary = why
	return report.Formats[l.Format](r, cmd.OutOrStdout())
}

// Print prints a review that is not posted, and returns its verdict's exit code.
func Print(out io.Writer, subject string, outcome reviewer.Outcome, format string) error {
	if err := report.Formats[format](report.New(subject, outcome), out); err != nil {
		return fmt.Errorf("print the review: %w", err)
	}
	return cli.VerdictExit(outcome.Record.Verdict)
}

// subject is the change of a borrowed worktree. The messages of its commits, and the first
// line of the only one, are all that is said of it.
func (l Review) subject(ctx context.Context, b *clone.Borrowed, of clone.Side) (reviewer.Subject, error) {
	s := reviewer.Subject{
		Name:     fmt.Sprintf("%s of %s against %s", of, filepath.Base(b.Clone.Top), l.Base),
		Texts:    reviewer.Texts{Branch: b.Branch},
		Checkout: reviewer.Checkout{Base: b.Base, BaseBranch: l.Base, Head: b.Head, Shown: b.Shown, Dir: b.Dir(), Files: b},
		Rounds:   reviewer.Rounds{Round: 1},
	}
	var err error
	if s.Diff, err = b.Diff(ctx); err != nil {
		return s, fmt.Errorf("read the change: %w", err)
	}
	if s.Commits, err = b.Log(ctx); err != nil {
		return s, err
	}
	if len(s.Commits) > 0 && b.Made { // our own commit, which says nothing
		s.Commits = s.Commits[1:]
	}
	if len(s.Commits) == 1 { // which is what GitHub makes the title
		s.Title, _, _ = strings.Cut(s.Commits[0], "\n")
	}
	return s, nil
}

// PrintPrompts prints what a session would be told, and asked turn by turn, each part under its name.
func PrintPrompts(out io.Writer, instructions string, prompts []reviewer.Prompt) error {
	var text strings.Builder
	fmt.Fprintf(&text, "===== instructions, the same for every change (%d bytes)\n%s\n", len(instructions),
		strings.TrimRight(instructions, "\n"))
	for i, prompt := range prompts {
		for _, part := range prompt {
			if strings.TrimSpace(part.Text) != "" {
				fmt.Fprintf(&text, "===== turn %d of %d: %s (%d bytes)\n%s\n", i+1, len(prompts), part.Name, len(part.Text),
					strings.TrimRight(part.Text, "\n"))
			}
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
