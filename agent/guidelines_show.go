package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/clone"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/remoteguidelines"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree/diff"
)

func newGuidelinesShow(s *cli.Settings) *cobra.Command {
	var pr, base string
	var layers []string
	cmd := &cobra.Command{
		Use:   "show (--pr PR | --base REV)",
		Short: "Print the rules that apply to a change, and why",
		Long: `show prints exactly the rules that a review of a change would be given, in the
review's order. Each has its severity, its scope, the reason why it applies, and
its criterion.

With --pr the change is that of a pull request. With --base it is what is
committed on HEAD of the clone in the working directory since it branched off
REV; nothing is sent or fetched. In both cases a repository's own documents are
read from the base, and an organization's from the directory or the repository
that guidelines in the configuration names.`,
		Example: "  touchstone guidelines show --base origin/main\n  touchstone guidelines show --pr 12 --repo acme/app",
		Args: func(cmd *cobra.Command, args []string) error {
			err := cobra.NoArgs(cmd, args)
			if err == nil && (pr == "") == (base == "") {
				err = errors.New("give either --pr or --base")
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			set, err := compose.Guidelines(cmd.Context(), cfg, layers...)
			if err != nil {
				return err
			}
			var change guidelines.Change
			var own map[string]string
			if pr != "" {
				change, own, err = pullRequest(s, cmd, cfg, pr)
			} else {
				change, own, err = committedSince(cmd.Context(), base)
			}
			if err == nil {
				set, err = remoteguidelines.Lay(set, own)
			}
			if err != nil {
				return err
			}
			return show(cmd.OutOrStdout(), set, change)
		},
	}
	cmd.Flags().StringVar(&pr, "pr", "", "the pull request, as `PR` number, owner/name#number or address")
	cmd.Flags().StringVar(&base, "base", "", "the commit or branch `REV` that HEAD is compared with")
	cmd.Flags().StringArrayVar(&layers, "layer", nil,
		"directory `DIR` of more documents under the repository's own; may be given more than once")
	return cmd
}

// show prints the rules that apply, and why.
func show(out io.Writer, set guidelines.Set, change guidelines.Change) error {
	total := 0
	for _, doc := range set.Documents {
		for _, row := range doc.Rows {
			if row.Severity != guidelines.Off {
				total++
			}
		}
	}
	applied := set.For(change)
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d rules apply to %s (guidelines %s)\n", len(applied), total,
		verdict.Amount(len(change.Files), "changed file", "changed files"), set.Version())
	for _, a := range applied {
		besides := ""
		if a.Row.Source != a.Row.Document {
			besides = ", as amended by " + a.Row.Source
		}
		if a.Row.Checkable {
			besides += ", a machine can check it"
		}
		fmt.Fprintf(&text, "\n%s  %s  (%s)%s\n  why: %s\n  %s\n", a.Row.ID, a.Row.Severity, a.Row.Scope, besides, a.Why, a.Row.Criterion)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// pullRequest reads the change of a pull request, and the repository's own
// guideline documents from its base.
func pullRequest(
	s *cli.Settings, cmd *cobra.Command, cfg config.Config, arg string,
) (change guidelines.Change, own map[string]string, err error) {
	ref, err := cli.ParseRef(cmd, cfg, arg)
	if err != nil {
		return change, nil, err
	}
	client, err := compose.Client(cfg)
	if err != nil {
		return change, nil, err
	}
	ctx := s.Logger(cmd.Context(), cfg)
	pr, err := client.PullRequest(ctx, ref)
	if err != nil {
		return change, nil, err
	}
	const role = "show" // a worktree of its own, out of the way of running agents
	request, err := pull.Remote(client.Remote).Request(ctx, pr, role)
	if err != nil {
		return change, nil, err
	}
	trees := compose.Trees(cfg)
	tree, err := trees.Acquire(ctx, request)
	if err != nil {
		return change, nil, fmt.Errorf("fetch the pull request: %w", err)
	}
	change, own, err = changeOf(ctx, pr, tree)
	err = errors.Join(err, tree.Release(), trees.Remove(ctx, pr.Repo.String(), pr.Number, role))
	return change, own, err
}

// tree is a checkout with its commits: of a pull request, or borrowed from a clone.
type tree interface {
	Diff(ctx context.Context) (diff.Diff, error)
	Log(ctx context.Context) ([]string, error)
	config.Tree
}

func changeOf(ctx context.Context, pr forge.PullRequest, tree tree) (change guidelines.Change, own map[string]string, err error) {
	diff, err := tree.Diff(ctx)
	if err != nil {
		return change, nil, fmt.Errorf("read the change: %w", err)
	}
	commits, err := tree.Log(ctx)
	if err != nil {
		return change, nil, err
	}
	round := 1
	for _, review := range pr.Reviews {
		if record, err := verdict.ParseRecord(review.Body); err == nil {
			round = max(round, record.Round+1)
		}
	}
	change = reviewer.ChangeOf(pr, diff, commits, round)
	own, err = remoteguidelines.Committed(ctx, tree, pr.Base.SHA)
	return change, own, err
}

// committedSince reads what is committed on HEAD of the clone in the current directory since it branched off
// base, and the repository's own guideline documents on base.
func committedSince(ctx context.Context, base string) (change guidelines.Change, own map[string]string, err error) {
	c, err := clone.Open(ctx)
	if err != nil {
		return change, nil, err
	}
	b, err := c.Borrow(ctx, "", base, clone.Committed)
	if err != nil {
		return change, nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var pr forge.PullRequest
	pr.Base.SHA, pr.Head.Name = b.Base, b.Branch
	if commits, err := b.Log(ctx); err == nil && len(commits) == 1 { // GitHub makes it the title
		pr.Title, _, _ = strings.Cut(commits[0], "\n")
	}
	return changeOf(ctx, pr, b)
}
