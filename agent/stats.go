package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/audit"
	"touchstone/agent/config"
	"touchstone/agent/forge"
)

// mostPast bounds the pull requests of one repository that are counted.
const mostPast = 5000

func newStats(s *settings) *cobra.Command {
	var reviewers []string
	var format, by string
	since := span(30 * day)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what became of the pull requests, and what it cost",
		Long: `stats reads from GitHub what became of the pull requests of the configured
repositories: how many were merged and how fast, in how many rounds of review, what
the reviews cost, what they found in which dimension and what became of it, and how
often a person was needed. Reviews count as in touchstone why.

With --by it tells the same apart: by the rule of the findings, the model or the tier
of the reviews, or the repository. A pull request may count in several lines; the cost
of a rule is its part of the reviews in which it fired, as in touchstone guidelines
stats.`,
		Example: "  touchstone stats --since 7d --repo acme/app\n  touchstone stats --by model --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if by != "" && !slices.Contains(audit.Bys(), audit.By(by)) {
				return usage(cmd, fmt.Errorf("--by is %q but has to be rule, model, tier or repo", by))
			}
			h, err := s.history(cmd, since, reviewers, format)
			if err != nil {
				return err
			}
			if by != "" {
				rows := audit.Rows(h.pulls, h.from, h.cfg.Reviewers, nil)
				groups := audit.CountBy(audit.By(by), h.pulls, h.from, h.cfg.Reviewers, h.cfg.Labels.NeedsHuman, rows)
				groups.Partial = groups.Partial || h.partial
				return tell(cmd.OutOrStdout(), format, groups)
			}
			stats := audit.Count(h.pulls, h.from, h.cfg.Reviewers, h.cfg.Labels.NeedsHuman)
			stats.Partial = stats.Partial || h.partial
			return tell(cmd.OutOrStdout(), format, stats)
		},
	}
	bindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().Var(&since, "since", "how far to look back, such as 7d or 36h")
	cmd.Flags().StringVar(&by, "by", "", "tell the numbers apart by rule, model, tier or repo")
	return cmd
}

// history is what became of the pull requests of the configured repositories.
type history struct {
	cfg    config.Config
	client *forge.Client
	repos  []forge.Repo
	from   time.Time
	pulls  []forge.Past
	// partial says that there were more than were read.
	partial bool
}

// history reads what became of the pull requests that changed in a time span until now.
func (s *settings) history(cmd *cobra.Command, since span, reviewers []string, format string) (h history, err error) {
	if since <= 0 {
		return h, usage(cmd, fmt.Errorf("--since is %s but has to be a time such as 30d or 36h", since.String()))
	}
	if h.cfg, h.client, err = s.onlooker(cmd, reviewers, format); err != nil {
		return h, err
	}
	if len(h.cfg.Repositories) == 0 {
		return h, config.ErrNoRepository
	}
	h.from = time.Now().Add(-time.Duration(since)).UTC().Truncate(time.Second)
	for _, name := range h.cfg.Repositories {
		repo, err := forge.ParseRepo(name)
		if err != nil {
			return h, err
		}
		past, more, err := h.client.History(cmd.Context(), repo, h.from, mostPast)
		if err != nil {
			return h, err
		}
		h.repos, h.pulls, h.partial = append(h.repos, repo), append(h.pulls, past...), h.partial || more
	}
	return h, nil
}

const day = 24 * time.Hour

// span is a time as a flag, such as how far back something looks.
type span config.Duration

// String is the span as Set takes it.
func (s *span) String() string { return config.Duration(*s).String() }

// Set reads a span.
func (s *span) Set(text string) error {
	parsed, err := config.ParseDuration(text)
	*s = span(parsed)
	return err
}

// Type is what the help calls it.
func (*span) Type() string { return "time" }
