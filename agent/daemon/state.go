package daemon

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

// history is what this machine remembers that bears on a decision.
type history struct {
	// attempts counts the acts on the present head that failed.
	attempts int
	// failed is the last of them, failure how it ended.
	failed  verdict.Kind
	failure string
	// retryIn is how long it has to wait before it is tried again.
	retryIn time.Duration
}

// stateOf is everything that [verdict.Next] may know of a pull request.
func stateOf(pr forge.PullRequest, role verdict.Role, cfg config.Config, past history) verdict.State {
	s := verdict.State{
		Role: role, Self: pr.Viewer,
		Open: pr.Open, Draft: pr.Draft, Fork: pr.Fork, Author: pr.Author.Login, Head: pr.Head.SHA, BaseBranch: pr.Base.Name,
		Asked:         holds(pr.Requested, pr.Viewer),
		Requested:     cfg.Review == config.ReviewAll || holds(pr.Requested, pr.Viewer),
		NeedsHuman:    holds(pr.Labels, cfg.Labels.NeedsHuman),
		Held:          holds(pr.Labels, cfg.Labels.Hold),
		EscalatedAt:   escalatedAt(pr),
		Mergeable:     mergeable(pr),
		Checks:        sum(pr.Checks),
		Reviewers:     cfg.Reviewers,
		AutoMerge:     cfg.Merge.Auto,
		RequireChecks: cfg.Merge.RequireChecks,
		MaxRounds:     cfg.Rounds.Max,
		MaxAttempts:   cfg.Rounds.Attempts,
		Attempts:      past.attempts,
		Failed:        past.failed,
		RetryIn:       past.retryIn,
	}
	for _, r := range pr.Reviews {
		o := verdict.Opinion{By: r.Author.Login, SHA: r.SHA, State: r.State, Edited: r.EditedAt != nil, At: r.SubmittedAt}
		if record, err := verdict.ParseRecord(r.Body); err == nil {
			o.Record = &record
			// GitHub takes a reviewer off the list of requests when the review is in.
			s.Requested = s.Requested || strings.EqualFold(r.Author.Login, pr.Viewer)
		}
		s.Opinions = append(s.Opinions, o)
	}
	return s
}

// sum is the state of all checks together: of the required ones if the base
// branch requires any, otherwise of all. As under branch protection, success,
// skipped and neutral pass
// (https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks).
func sum(checks []forge.Check) verdict.Checks {
	if slices.ContainsFunc(checks, func(c forge.Check) bool { return c.Required }) {
		checks = slices.DeleteFunc(slices.Clone(checks), func(c forge.Check) bool { return !c.Required })
	}
	total := verdict.ChecksNone
	for _, c := range checks {
		switch c.State {
		case forge.CheckSuccess, forge.CheckSkipped, forge.CheckNeutral:
			if total == verdict.ChecksNone {
				total = verdict.ChecksGreen
			}
		case forge.CheckPending:
			if total != verdict.ChecksFailed {
				total = verdict.ChecksPending
			}
		default:
			total = verdict.ChecksFailed
		}
	}
	return total
}

func mergeable(pr forge.PullRequest) verdict.Mergeable {
	switch {
	case pr.Mergeable == forge.MergeableConflicting:
		return verdict.MergeableDirty
	case pr.Mergeable == forge.MergeableClean && pr.Behind:
		return verdict.MergeableBehind
	case pr.Mergeable == forge.MergeableClean:
		return verdict.MergeableClean
	}
	return verdict.MergeableUnknown
}

// escalation marks a comment by which this agent called a person.
var escalation = regexp.MustCompile(`(?m)^<!-- touchstone:escalation v1 ([0-9a-f]{7,64}) -->$`)

// escalatedAt is when an agent of either side last called a person, or zero. Only
// those who belong to the repository are believed: the mark resets what bounds the
// rounds.
func escalatedAt(pr forge.PullRequest) time.Time {
	var at time.Time
	for _, c := range pr.Comments {
		insider := c.Association == "OWNER" || c.Association == "MEMBER" || c.Association == "COLLABORATOR"
		if (insider || strings.EqualFold(c.Author.Login, pr.Viewer)) && escalation.MatchString(c.Body) && c.CreatedAt.After(at) {
			at = c.CreatedAt
		}
	}
	return at
}

// called reports whether this login has called a person to the present head.
func called(pr forge.PullRequest) bool {
	return slices.ContainsFunc(pr.Comments, func(c forge.Comment) bool {
		mark := escalation.FindStringSubmatch(c.Body)
		return strings.EqualFold(c.Author.Login, pr.Viewer) && mark != nil && mark[1] == pr.Head.SHA
	})
}

func holds(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
