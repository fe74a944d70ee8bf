package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/audit"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree/span"
)

// mostPast bounds the pull requests of one repository that are counted.
const mostPast = 5000

// History is the outcome of the pull requests of the configured repositories.
type History struct {
	// Config is the configuration, flags included.
	Config config.Config
	// Client reads GitHub.
	Client *forge.Client
	repos  []forge.Repo
	// From is the beginning of the time span; Pulls are the pull requests changed since then.
	From  time.Time
	Pulls []forge.Past
	// Partial says that not all pull requests were read.
	Partial bool
}

// History reads the outcome of the pull requests that changed within a time span until now.
func (s *Settings) History(cmd *cobra.Command, since span.Duration, reviewers []string) (h History, err error) {
	if since <= 0 {
		return h, Usage(cmd, fmt.Errorf("--since is %s but must be a time such as 30d or 36h", since.String()))
	}
	if h.Config, h.Client, err = s.Onlooker(cmd, reviewers); err != nil {
		return h, err
	}
	h.From = time.Now().Add(-time.Duration(since)).UTC().Truncate(time.Second)
	if h.repos, err = compose.Repositories(h.Config); err != nil {
		return h, err
	}
	for _, repo := range h.repos {
		past, more, err := h.Client.History(cmd.Context(), repo, h.From, mostPast)
		if err != nil {
			return h, err
		}
		h.Pulls, h.Partial = append(h.Pulls, past...), h.Partial || more
	}
	return h, nil
}

// Day is a day of 24 hours.
const Day = 24 * time.Hour

// Rows counts the outcomes of each rule's findings, and people's thumbs on them.
func (h History) Rows(cmd *cobra.Command) (audit.RowStats, error) {
	type of struct {
		ref forge.Ref
		id  string
	}
	thumbs := map[of]forge.Reactions{}
	for _, repo := range h.repos {
		reacted, err := h.Client.Reactions(cmd.Context(), repo, h.From, mostPast)
		if err != nil {
			return audit.RowStats{}, err
		}
		for _, r := range reacted {
			if id, ok := verdict.TaggedFinding(r.Body); ok && verdict.ListsLogin(h.Config.Reviewers, r.Author.Login) {
				thumbs[of{r.Ref, id}] = r.Reactions
			}
		}
	}
	stats := audit.Rows(h.Pulls, h.From, h.Config.Reviewers, func(ref forge.Ref, id string) forge.Reactions { return thumbs[of{ref, id}] })
	stats.Partial = stats.Partial || h.Partial
	return stats, nil
}
