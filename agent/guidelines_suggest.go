package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/learn"
	"touchstone/agent/pull"
	"touchstone/agent/remoteguidelines"
	"touchstone/agent/tempdir"
	"touchstone/worktree/atomicfile"
	"touchstone/worktree/span"
)

// drafting holds the flags of guidelines suggest.
type drafting struct {
	rule, dir string
	write     bool
}

func newGuidelinesSuggest(s *cli.Settings) *cobra.Command {
	var reviewers []string
	var format string
	var g drafting
	since := span.Duration(90 * cli.Day)
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Draft a change of a rule whose findings were mostly wrong",
		Long: `suggest takes a rule and has one session of a model reword it. The rule is the
one that --rule names, or the one with the most findings that were refuted by a
second session, withdrawn after a dispute, or waived. It prints the draft as a
unified diff, with the numbers and the reason, for a person to decide. It only
takes a rule if for at least five of its findings it is known whether they held,
and most were wrong.

The diff changes the document in --dir that contains the rule, or amendments.md
there, which replaces a rule of another layer. A draft in which guidelines lint
finds a problem is shown as rejected, and the exit code is 1. Nothing is written
without --write.`,
		Example: "  touchstone guidelines suggest --since 180d\n  touchstone guidelines suggest --rule test/T1 --write",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := s.History(cmd, since, reviewers)
			if err != nil {
				return err
			}
			cmd.SetContext(s.Logger(cmd.Context(), h.Config))
			return g.run(cmd, h, format)
		},
	}
	cli.BindOnlooker(cmd, &reviewers, &format)
	flags := cmd.Flags()
	flags.Var(&since, "since", "how far to look back, such as 90d or 36h")
	flags.StringVar(&g.rule, "rule", "", "the `ID` of the rule, such as test/T1 (default: the one with the most wrong findings)")
	flags.StringVar(&g.dir, "dir", filepath.FromSlash(guidelineDir), "directory `DIR` of the documents to change")
	flags.BoolVar(&g.write, "write", false, "change the document")
	return cmd
}

// run has a rule reworded, and prints the draft.
func (g drafting) run(cmd *cobra.Command, h cli.History, format string) (err error) {
	ctx := cmd.Context()
	rows, err := h.Rows(cmd)
	if err != nil {
		return err
	}
	row, why := learn.Choose(rows.Rows, g.rule)
	if why != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), why)
		return nil
	}
	drafter := learn.Drafter{Dir: g.dir, Texts: map[string]string{}}
	if _, err := os.Stat(g.dir); err == nil {
		if drafter.Texts, err = remoteguidelines.ReadDir(g.dir); err != nil {
			return err
		}
	}
	if drafter.Base, err = compose.Guidelines(ctx, h.Config); err != nil {
		return err
	}
	dir, err := tempdir.Open(ctx, h.Config.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	examiner, err := compose.Examiner(ctx, h.Config, dir.Path)
	if err != nil {
		return err
	}
	drafter.Engine = examiner.Engine
	if _, err := drafter.Engine.Probe(ctx); err != nil {
		return err
	}
	if drafter.Request, err = g.request(examiner.Settings(), h.Config, dir.Path); err != nil {
		return err
	}
	s, err := drafter.Draft(ctx, row)
	if err != nil {
		return cli.Inconclusive(err)
	}
	if g.write && len(s.Rejected) == 0 {
		if err := errors.Join(os.MkdirAll(g.dir, 0o755), atomicfile.WriteReadable(s.File, []byte(s.After))); err != nil {
			return fmt.Errorf("write the draft: %w", err)
		}
		s.Written = true
	}
	if err := cli.Print(cmd.OutOrStdout(), format, s); err != nil || len(s.Rejected) == 0 {
		return err
	}
	return fmt.Errorf("the draft of %s is rejected, and nothing is written; run this again for another draft", s.Rule)
}

// request is the request for the session: it works in an empty directory, with the model that reviews.
func (drafting) request(e config.Engine, cfg config.Config, tempDir string) (engine.Request, error) {
	empty := filepath.Join(tempDir, "draft")
	allowed := pull.BudgetsOf(cfg).Round
	return engine.Request{
		Dir: empty, Model: e.ModelFor(config.ReviewFull), Effort: e.EffortFor(config.ReviewFull),
		Timeout: e.Timeout.Duration(), IdleTimeout: e.IdleTimeout.Duration(), Budget: allowed.USD, MaxTurns: e.MaxTurns,
	}, os.Mkdir(empty, 0o700)
}
