package compose

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/agent/remoteconfig"
	"touchstone/relay/client"
	"touchstone/relay/event"
)

// relayFollower turns the relay's events into hints, starting where this machine stopped.
type relayFollower struct {
	url     string
	token   string
	repos   []forge.Repo
	journal *journal.Journal
	// choices receives the settings of the relay's administrators; nil if they do not apply.
	choices *remoteconfig.Overlay
}

// Follow hints at everything each time the connection is established again, or the relay reports missing
// events, because the missed events may concern any pull request.
func (f *relayFollower) Follow(ctx context.Context, hint func(daemon.Hint)) error {
	log := zerolog.Ctx(ctx)
	var filter event.Filter // the relay may have any names for its sources
	for _, repo := range f.repos {
		filter.Repos = append(filter.Repos, repo.String())
	}
	c := client.Client{URL: f.url, Token: f.token, Filter: filter, OnState: func(s client.State) {
		if s.Connected {
			log.Info().Str("relay", f.url).Msg("following the relay")
			hint(daemon.Hint{})
			return
		}
		log.Warn().Err(s.Err).Stringer("retry_in", s.Retry.Round(time.Millisecond)).Msg("the relay is out of reach; trying again")
	}}
	return c.Follow(ctx, f.journal.Cursor(), func(ctx context.Context, m event.Message) error {
		f.choose(ctx, m)
		switch {
		case m.Event != nil && m.Event.Headers[githubEvent] != "":
			for _, repo := range f.repos {
				// GitHub's names ignore case; the configured spelling is used.
				if strings.EqualFold(repo.String(), m.Event.Repo) && !idle(m.Event) {
					hint(daemon.Hint{Repo: repo, Number: int(m.Event.Number)})
				}
			}
		case m.Gap != nil, m.Reset != nil:
			hint(daemon.Hint{})
		}
		if m.Cursor.IsZero() {
			return nil
		}
		return f.journal.SetCursor(m.Cursor.String())
	})
}

// githubEvent is the header that each of GitHub's webhooks has, and no other sender's.
const githubEvent = "X-Github-Event"

// choose applies the models that the relay's administrators have chosen.
func (f *relayFollower) choose(ctx context.Context, m event.Message) {
	switch {
	case f.choices == nil:
	case m.Settings != nil:
		f.choices.Take(ctx, *m.Settings)
	case m.Reset != nil:
		f.choices.Drop() // the settings of the new log come next
	}
}

// idle reports whether an event needs no action from any agent: an event about an issue that is not a pull
// request, a claim, by which an agent only says that it is working, a workflow's job, whose check run tells the same, or
// somebody's interest in the repository. Neither a status nor a job names its pull request, so each of them would make
// all agents check all open pull requests.
//
// The run of a workflow is not idle, though GitHub names no pull request in the runs of forks and of branches without one.
// A fork's run may be all that a merge waits for: one that waits for a person, could not start, or ended before its first
// job has no check run. A run on the base shows which checks fail there too, one of a merge queue is about a commit that no
// pull request has, and the event that a run has begun is the only one of a run that is started again.
func idle(e *event.Event) bool {
	var payload struct {
		Issue struct {
			PullRequest json.RawMessage `json:"pull_request"`
		}
		State     string
		TargetURL string `json:"target_url"`
	}
	switch e.Type {
	case "issues", "issue_comment":
		return json.Unmarshal(e.Payload, &payload) == nil && payload.Issue.PullRequest == nil
	case "workflow_job", "star", "watch", "fork":
		return true
	case "status":
		return json.Unmarshal(e.Payload, &payload) == nil && payload.State == string(forge.CheckPending) &&
			strings.Contains(payload.TargetURL, pull.ClaimMark)
	}
	return false
}
