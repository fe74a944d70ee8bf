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
	"touchstone/agent/forge"
	"touchstone/agent/learn"
	"touchstone/agent/pull"
	"touchstone/agent/remoteguidelines"
	"touchstone/agent/reviewer"
	"touchstone/agent/tempdir"
	"touchstone/guidelines"
	"touchstone/worktree/span"
)

// replay holds the flags of guidelines replay.
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
	since := span.Duration(30 * cli.Day)
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Try changed guidelines on rounds that were reviewed before",
		Long: `replay repeats the reviews of earlier rounds with the present guidelines and,
with --with, with the documents of a directory in place of the repository's own
documents of the same name. It says, by rule, which findings appear, vanish and
stay, and what had become of those that vanish or stay. It posts nothing. It
reads the rounds from the signed records on GitHub and reviews each as if nobody
had reviewed it before. The answers of a session vary, so a few findings more or
less prove little.

It says how many rounds there are and what they may cost, and asks before it
starts, unless --yes is given. All sessions together cost at most --budget, plus
the last request of the last session. If the price of a model is not known, only
--rounds bounds the cost.`,
		Example: "  touchstone guidelines replay --with .touchstone/guidelines --budget 5\n" +
			"  touchstone guidelines replay --yes --format json --repo acme/app",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.budget <= 0 || r.rounds <= 0 {
				return cli.Usage(cmd, errors.New("--budget and --rounds must be more than 0"))
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
	flags.Float64Var(&r.budget, "budget", 10, "what all sessions together may cost, in `USD`")
	flags.IntVar(&r.rounds, "rounds", 50, "how many rounds to replay at most, latest first")
	flags.BoolVar(&r.yes, "yes", false, "start without asking")
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
			return fmt.Errorf("%s contains no guideline document", r.with)
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
		return errors.New("nothing was replayed, since the answer was not yes; add --yes to start without being asked")
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
	// It has no Poster, so it cannot post.
	rounds := &reviewer.Reviewer{
		Examiner: *examiner, Read: h.Client, Upstream: h.Client, Remote: h.Client.Remote,
		Worktrees: compose.Trees(h.Config),
	}
	result := plan.Run(ctx, rounds, documentsOfToday(h.Client, with), pull.BudgetsOf(h.Config).Round, cli.Steps(cmd.ErrOrStderr()))
	return cli.Print(cmd.OutOrStdout(), format, result)
}

// documentsOfToday reads a repository's present own documents, once for each base branch, and overrides them
// with others.
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
