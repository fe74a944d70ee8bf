package main

import (
	"github.com/spf13/cobra"

	"touchstone/agent/audit"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

func newGuidelinesStats(s *settings) *cobra.Command {
	var reviewers []string
	var format string
	since := span(30 * day)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what became of the findings of each rule",
		Long: `stats reads the records of the reviews on GitHub and counts for each rule its
findings and what became of them: how many held (they were repaired, or a dispute did
not take them back), how many were wrong (refuted by a second session, withdrawn, or
waived), which part that is, how many were upheld against a dispute, came back after a
repair, or could have been found earlier; the thumbs up and down on their comments; the
reviews in which they stood, and their part of what these cost. Where there are several
repositories or models, each has a line. Reviews count as in touchstone why.`,
		Example: "  touchstone guidelines stats --since 90d\n  touchstone guidelines stats --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := s.history(cmd, since, reviewers, format)
			if err != nil {
				return err
			}
			stats, err := h.rows(cmd)
			if err != nil {
				return err
			}
			return tell(cmd.OutOrStdout(), format, stats)
		},
	}
	bindOnlooker(cmd, &reviewers, &format)
	cmd.Flags().Var(&since, "since", "how far to look back, such as 7d or 36h")
	return cmd
}

// rows counts what became of the findings of each rule, with the thumbs that people gave.
func (h history) rows(cmd *cobra.Command) (audit.RowStats, error) {
	type of struct {
		ref forge.Ref
		id  string
	}
	thumbs := map[of]forge.Reactions{}
	for _, repo := range h.repos {
		reacted, err := h.client.Reactions(cmd.Context(), repo, h.from, mostPast)
		if err != nil {
			return audit.RowStats{}, err
		}
		for _, r := range reacted {
			if id, ok := verdict.TaggedFinding(r.Body); ok && verdict.ListsLogin(h.cfg.Reviewers, r.Author.Login) {
				thumbs[of{r.Ref, id}] = r.Reactions
			}
		}
	}
	stats := audit.Rows(h.pulls, h.from, h.cfg.Reviewers, func(ref forge.Ref, id string) forge.Reactions { return thumbs[of{ref, id}] })
	stats.Partial = stats.Partial || h.partial
	return stats, nil
}
