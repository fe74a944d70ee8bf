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
func stateOf(pr forge.PullRequest, role verdict.Role, cfg config.Config, f facts) verdict.State {
	s := verdict.State{
		Role: role, Self: pr.Viewer,
		Open: pr.Open, Draft: pr.Draft, Fork: pr.Fork, Author: pr.Author.Login, Head: pr.Head.SHA, BaseBranch: pr.Base.Name,
		Asked:         verdict.ListsLogin(pr.Requested, pr.Viewer),
		Requested:     cfg.Review == config.ReviewAll || verdict.ListsLogin(pr.Requested, pr.Viewer),
		NeedsHuman:    labelled(pr, cfg.Labels.NeedsHuman),
		Held:          labelled(pr, cfg.Labels.Hold),
		LabelledAt:    pr.LabelledAt(cfg.Labels.NeedsHuman),
		EscalatedAt:   escalatedAt(pr),
		CalledAt:      calledAt(pr),
		Orders:        ordersOf(pr, cfg, f),
		InQueue:       pr.InQueue,
		Told:          told(pr),
		Mergeable:     mergeable(pr),
		Checks:        sum(pr.Checks),
		Reviewers:     cfg.Reviewers,
		Manual:        f.manual,
		RequireChecks: cfg.Merge.RequireChecks,
		MaxRounds:     cfg.Rounds.Max,
		MaxAttempts:   cfg.Rounds.Attempts,
		Attempts:      f.past.attempts,
		Failed:        f.past.failed,
		RetryIn:       f.past.retryIn,
	}
	for _, r := range pr.Reviews {
		o := verdict.Opinion{
			By: r.Author.Login, SHA: r.SHA, State: r.State, Edited: r.EditedAt != nil, At: r.SubmittedAt, Person: r.ByPerson, CanPush: r.CanPush,
		}
		if record, err := verdict.ParseRecord(r.Body); err == nil {
			o.Record, o.Rebased = &record, f.rebased[record.Base]
			// GitHub takes a reviewer off the list of requests when the review is in.
			s.Requested = s.Requested || verdict.SameLogin(r.Author.Login, pr.Viewer)
		}
		s.Opinions = append(s.Opinions, o)
	}
	return s
}

// ordersOf are the commands in a pull request's comments that count.
func ordersOf(pr forge.PullRequest, cfg config.Config, f facts) []verdict.Command {
	var comments []verdict.Comment
	for _, c := range pr.Comments {
		may := f.may[c.Author.Login]
		comments = append(comments, verdict.Comment{
			ID: c.ID, By: c.Author.Login, At: c.CreatedAt, Body: c.Body, Bot: !c.ByPerson, Edited: c.EditedAt != nil,
			CanPush: may.CanWrite(), CanWaive: includes(may, cfg.Rights.Waive), CanBreakGlass: includes(may, cfg.Rights.BreakGlass),
		})
	}
	return verdict.Orders(comments, cfg.Reviewers)
}

// includes reports whether what somebody may do includes a right that the settings name.
func includes(may forge.Permission, right string) bool {
	switch right {
	case config.RightWrite:
		return may.CanWrite()
	case config.RightMaintain:
		return may.Administers()
	}
	return may == config.RightAdmin
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

// The marks of what this agent says in comments: that it called a person, and that
// a pull request waits for its author.
var (
	escalation = regexp.MustCompile(`(?m)^<!-- touchstone:escalation v1 ([0-9a-f]{7,64}) -->$`)
	waiting    = regexp.MustCompile(`(?m)^<!-- touchstone:waiting v1 [0-9a-f]{7,64} -->$`)
)

// escalatedAt is when an agent of either side last called a person, or zero. Only
// those who belong to the repository are believed: the mark resets what bounds the
// rounds.
func escalatedAt(pr forge.PullRequest) time.Time {
	return lastCall(pr, func(c forge.Comment, _ string) bool { return insider(pr, c) })
}

// calledAt is escalatedAt of the present head alone.
func calledAt(pr forge.PullRequest) time.Time {
	return lastCall(pr, func(c forge.Comment, sha string) bool { return insider(pr, c) && sha == pr.Head.SHA })
}

func insider(pr forge.PullRequest, c forge.Comment) bool {
	belongs := c.Association == "OWNER" || c.Association == "MEMBER" || c.Association == "COLLABORATOR"
	return belongs || verdict.SameLogin(c.Author.Login, pr.Viewer)
}

// called reports whether this login has called a person to the present head.
func called(pr forge.PullRequest) bool {
	return !lastCall(pr, func(c forge.Comment, sha string) bool {
		return verdict.SameLogin(c.Author.Login, pr.Viewer) && sha == pr.Head.SHA
	}).IsZero()
}

// lastCall is when a person was last called in a comment that counts.
func lastCall(pr forge.PullRequest, counts func(c forge.Comment, sha string) bool) time.Time {
	var at time.Time
	for _, c := range pr.Comments {
		if mark := escalation.FindStringSubmatch(c.Body); mark != nil && counts(c, mark[1]) && c.CreatedAt.After(at) {
			at = c.CreatedAt
		}
	}
	return at
}

// told reports whether this login has said that the pull request waits for its
// author.
func told(pr forge.PullRequest) bool {
	return slices.ContainsFunc(pr.Comments, func(c forge.Comment) bool {
		return verdict.SameLogin(c.Author.Login, pr.Viewer) && waiting.MatchString(c.Body)
	})
}

// labelled reports whether a pull request has a label. As GitHub's, their names
// have no case.
func labelled(pr forge.PullRequest, label string) bool {
	return slices.ContainsFunc(pr.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}
