package main

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/learn"
	"touchstone/agent/remoteguidelines"
	"touchstone/agent/reviewer"
	"touchstone/agent/tempdir"
	"touchstone/guidelines"
)

// replay is what the flags of guidelines replay say.
type replay struct {
	with   string
	budget float64
	rounds int
	yes    bool
}

func newGuidelinesReplay(s *cli.Settings) *cobra.Command {
	var reviewers []string
	var format string
	var r replay
	since := cli.Span(30 * cli.Day)
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Try changed guidelines on rounds that were reviewed before",
		Long: `replay reviews again what earlier rounds reviewed, by the guidelines of today
and, with --with, by those in a directory in place of the repository's own
documents of the same name, and says which findings appear, vanish and stay, by
rule, and what had become of those that vanish and stay. Nothing is posted. The
rounds are read from the signed records on GitHub; each is reviewed as if nobody
had looked at it before. A session's answers vary, so few findings more or less
prove little.

It says how many rounds there are and what they may cost, and asks, unless --yes
is given. The sessions together cost --budget at most, but for the one request
by which the last of them may go beyond it; where the price of a model is not
known, --rounds is the only bound.`,
		Example: "  touchstone guidelines replay --with .touchstone/guidelines --budget 5\n" +
			"  touchstone guidelines replay --yes --format json --repo acme/app",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.budget <= 0 || r.rounds <= 0 {
				return cli.Usage(cmd, errors.New("--budget and --rounds have to be more than 0"))
			}
			h, err := s.History(cmd, since, reviewers)
			if err != nil {
				return err
			}
			ctx := s.Logger(cmd.Context(), h.Config)
			cmd.SetContext(ctx)
			return r.run(cmd, h, format)
		},
	}
	cli.BindOnlooker(cmd, &reviewers, &format)
	flags := cmd.Flags()
	flags.Var(&since, "since", "how far to look back, such as 7d or 36h")
	flags.StringVar(&r.with, "with", "", "directory `DIR` of documents to try in place of the repository's own")
	flags.Float64Var(&r.budget, "budget", 10, "what the sessions may cost together, in `USD`")
	flags.IntVar(&r.rounds, "rounds", 50, "how many rounds to replay at most, the latest first")
	flags.BoolVar(&r.yes, "yes", false, "begin without asking")
	return cmd
}

// run finds the rounds, says what they may cost, and replays them.
func (r replay) run(cmd *cobra.Command, h cli.History, format string) (err error) {
	ctx := cmd.Context()
	with := map[string]string{}
	if r.with != "" {
		if with, err = remoteguidelines.ReadDir(r.with); err != nil {
			return err
		}
		if len(with) == 0 {
			return fmt.Errorf("there is no guideline document in %s", r.with)
		}
		if _, err := remoteguidelines.Lay(guidelines.Set{}, with); err != nil {
			return fmt.Errorf("read the documents in %s: %w", r.with, err)
		}
	}
	book, err := compose.Trusted(config.NewLive(h.Config, nil))
	if err != nil {
		return err
	}
	plan := learn.Plan{Since: h.From, BudgetUSD: r.budget, Most: r.rounds}
	if err := plan.Find(ctx, h.Client, h.Pulls, h.Config.Reviewers, book); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), plan)
	if len(plan.Rounds) > 0 && !r.yes && !cli.NewDialog(cmd).Yes("Begin? [Y/n] ") {
		return errors.New("nothing was replayed, since nobody said yes; add --yes to begin without being asked")
	}
	dir, err := tempdir.Open(ctx, h.Config.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	examiner, err := compose.Examiner(ctx, h.Config, dir.Path)
	if err == nil && len(plan.Rounds) > 0 {
		_, err = examiner.Engine.Probe(ctx)
	}
	if err != nil {
		return err
	}
	// It cannot post: it has nothing to post with.
	rounds := &reviewer.Reviewer{
		Examiner: *examiner, Read: h.Client, Remote: h.Client.Remote,
		Worktrees: compose.Trees(h.Config),
	}
	result := plan.Run(ctx, rounds, documentsOfToday(h.Client, with), daemon.Round(h.Config), cli.Steps(cmd.ErrOrStderr()))
	return cli.Print(cmd.OutOrStdout(), format, result)
}

// documentsOfToday reads the documents that a repository has of its own today, once for each base branch, and lays others over them.
func documentsOfToday(client *forge.Client, with map[string]string) learn.Documents {
	known := map[string]map[string]string{}
	return func(ctx context.Context, pr forge.PullRequest) (map[string]string, error) {
		branch := pr.Repo.String() + " " + pr.Base.Name
		if known[branch] == nil {
			own, err := remoteguidelines.Own(ctx, client, pr.Repo, pr.Base.Name)
			if err != nil {
				return nil, err
			}
			maps.Copy(own, with)
			known[branch] = own
		}
		return known[branch], nil
	}
}
