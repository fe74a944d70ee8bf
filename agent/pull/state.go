// Package pull turns a pull request, as read from GitHub, into the state on which decide.Next decides. It
// asks GitHub for what else a decision needs, and counts checks, orders, reviews and calls. This machine's
// memory is passed in as a [decide.History]. The package stores nothing.
package pull

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// StateOf returns everything that [decide.Next] may know about a pull request.
func StateOf(pr forge.PullRequest, role decide.Role, cfg config.Config, f Facts) decide.State {
	comments, now := CommentsOf(pr, cfg, f), f.Now
	reviewers := []string{pr.Viewer}
	if role == decide.Author {
		reviewers = cfg.Reviewers
	}
	s := decide.State{
		Role: role, Self: pr.Viewer,
		Open: pr.Open, Draft: pr.Draft, Fork: pr.Fork, Shared: pr.Shared, SameBranch: pr.SameBranch, Author: pr.Author.Login, Head: pr.Head.SHA,
		BaseBranch:   pr.Base.Name,
		BaseReplaced: pr.BaseReplaced,
		Forced:       forced(pr),
		Orphaned:     pr.Orphaned,
		Unread:       Unread(f.Unread),
		Asked:        verdict.ListsLogin(pr.Requested, pr.Viewer),
		Asking:       f.mayLetPass(pr.Requested),
		Requested: cfg.Review == config.ReviewAll ||
			slices.ContainsFunc(pr.Requested, func(login string) bool { return verdict.ListsLogin(reviewers, login) }),
		NeedsHuman:    Labelled(pr, cfg.Labels.NeedsHuman),
		LabelledAt:    pr.LabelledAt(cfg.Labels.NeedsHuman),
		EscalatedAt:   escalatedAt(pr, cfg.Labels.NeedsHuman),
		CalledAt:      CalledAt(pr, cfg.Labels.NeedsHuman, f.Rebased),
		CalledFor:     calledFor(pr, cfg.Labels.NeedsHuman),
		Orders:        verdict.Orders(comments, cfg.Reviewers),
		Commits:       CommitsOf(pr, f),
		Queue:         pr.Queue,
		InQueue:       pr.InQueue,
		Enqueued:      f.Enqueued,
		EnqueuedAt:    pr.Enqueued.At,
		Notices:       notices(pr),
		Elsewhere:     f.Elsewhere,
		Fixing:        fixedElsewhere(pr),
		Unbegun:       f.unbegun,
		FailedBefore:  f.failedBefore,
		Silent:        f.silent,
		BaseFails:     f.baseFails,
		BaseFailed:    f.baseFailed,
		Mergeable:     mergeable(pr),
		Checks:        f.Checks.sum(pr.Checks),
		Failing:       f.Checks.with(pr.Checks, decide.ChecksFailed),
		Running:       f.Checks.with(pr.Checks, decide.ChecksPending),
		Stuck:         f.Checks.stuck(pr.Checks),
		Absent:        absent(pr, f.required),
		Unknown:       f.Checks.unknown(pr.Checks),
		Conversations: pr.Unresolved(),
		Reviewers:     cfg.Reviewers,
		Manual:        f.Manual,
		Nits:          cfg.Author.Nits && !f.ByHand,
		Discussed:     discussed(pr, cfg),
		RequireChecks: cfg.Merge.RequireChecks,
		MaxRounds:     cfg.Rounds.Max,
		MaxAttempts:   cfg.Rounds.Attempts,
		Budgets:       BudgetsOf(cfg),
		Pause:         cfg.Author.Pause.Duration(),
		Now:           now,
		RenewedAt:     renewedAt(pr, cfg.Labels),
		ReportedAt:    reportedAt(pr.Checks),
		Rested:        rested(pr, cfg.Labels.NeedsHuman, now),
		History:       f.Past,
	}
	if Labelled(pr, cfg.Labels.Hold) {
		s.HoldLabel = cfg.Labels.Hold
	}
	var known verdict.Ledger
	for _, r := range pr.Reviews {
		o := f.Trust.Opinion(pr, r, cfg.Reviewers)
		o.Review = r.ID
		o.Independent = f.independent(pr, r.Author.Login)
		o.CanPush = o.CanPush && !f.Refused[trust.ReviewWord(r.ID)]
		if o.Record != nil {
			o.Rebased, o.Outdated = f.Rebased[o.Record.Base], f.Outdated[r.ID]
			o.Restated = o.Record.Description != "" && (o.Record.Title != pr.Title || !o.Record.Describes(pr.Body))
			// GitHub removes a reviewer from the requests when the review is submitted.
			s.Requested = s.Requested || verdict.ListsLogin(reviewers, r.Author.Login)
			known = append(known, o.Record.Ledger...)
		}
		s.Opinions = append(s.Opinions, o)
	}
	s.Unclear = slices.DeleteFunc(verdict.Misunderstood(comments, cfg.Reviewers, known),
		func(u verdict.Unclear) bool { return answered(pr, cfg, u) })
	return s
}

// Since is [decide.State.Since] of a pull request, for which the other facts need not be known yet.
func Since(pr forge.PullRequest, cfg config.Config, f Facts) time.Time {
	return decide.State{
		EscalatedAt: escalatedAt(pr, cfg.Labels.NeedsHuman), Orders: verdict.Orders(CommentsOf(pr, cfg, f), cfg.Reviewers),
	}.Since()
}

// Unread returns why not all of a pull request was read, as part of a sentence; "" for no error.
func Unread(err error) string {
	if known := (*forge.Error)(nil); errors.As(err, &known) {
		return known.Message
	}
	return ""
}

// CommentsOf returns the comments of a pull request, with their authors' permissions.
func CommentsOf(pr forge.PullRequest, cfg config.Config, f Facts) []verdict.Comment {
	var comments []verdict.Comment
	for _, c := range pr.AllComments() {
		comments = append(comments, f.Comment(pr, cfg.Rights, c))
	}
	for _, d := range pr.Deleted {
		if !d.By.Is(d.Author) {
			comments = append(comments, f.Deletion(d))
		}
	}
	return comments
}

// Comment converts a comment to the decision's terms. rights are from the settings.
func (f Facts) Comment(pr forge.PullRequest, rights config.Rights, c forge.Comment) verdict.Comment {
	may := f.May[c.Author.Login]
	comment := verdict.Comment{
		ID: c.ID, By: c.Author.Login, ByAuthor: verdict.SameLogin(c.Author.Login, pr.Author.Login), At: c.CreatedAt, Body: c.Body,
		Bot: !c.ByPerson, Edited: c.EditedAt != nil, InReview: c.InReview,
		CanPush: c.MayOrder(may), CanWaive: may.Includes(rights.Waive), CanBreakGlass: may.Includes(rights.BreakGlass),
		Independent: f.independent(pr, c.Author.Login), Refused: f.Refused[trust.CommentWord(c.ID)] && !c.InReview,
	}
	if c.EditedByAnother() {
		comment.Changed, comment.Was = c.EditedBy.Login, f.written[c.Node]
	}
	return comment
}

// Deletion converts a comment that another login deleted to the decision's terms.
func (f Facts) Deletion(d forge.Deletion) verdict.Comment {
	return verdict.Comment{By: d.Author.Login, At: d.At, Bot: !d.ByPerson, Deleted: d.By.Login, CanPush: f.May[d.Author.Login].CanWrite()}
}

// CommitsOf converts a pull request's commits to the decision's terms.
func CommitsOf(pr forge.PullRequest, f Facts) []verdict.Commit {
	var all []verdict.Commit
	for _, c := range f.Commits {
		fix, ok := verdict.ParseRepair(c.Message)
		all = append(all, verdict.Commit{
			SHA: c.SHA, By: cmp.Or(c.Login, c.Name), Bot: verdict.IsApp(c.Login), At: c.At, Rewritten: c.Rewritten, Message: c.Message,
			Unsigned: ok && !f.Trust.Made(pr, fix),
		})
	}
	return all
}

// mergeable converts what GitHub says about merging the head to the decision's terms.
func mergeable(pr forge.PullRequest) decide.Mergeable {
	switch {
	case pr.Mergeable == forge.MergeableConflicting:
		return decide.MergeableDirty
	case pr.Mergeable == forge.MergeableClean && pr.Behind:
		return decide.MergeableBehind
	case pr.Mergeable == forge.MergeableClean && pr.Blocked:
		return decide.MergeableBlocked
	case pr.Mergeable == forge.MergeableClean:
		return decide.MergeableClean
	}
	return decide.MergeableUnknown
}

// answered reports whether one of the agents has answered an order.
func answered(pr forge.PullRequest, cfg config.Config, u verdict.Unclear) bool {
	return slices.ContainsFunc(pr.Comments, func(c forge.Comment) bool {
		agent := verdict.SameLogin(c.Author.Login, pr.Viewer) || verdict.ListsLogin(cfg.Reviewers, c.Author.Login)
		return agent && strings.HasSuffix(strings.TrimSpace(c.Body), "\n"+verdict.ReplyMark(u.ID))
	})
}

// BudgetsOf converts the settings' budgets to the decision's terms.
func BudgetsOf(cfg config.Config) decide.Budgets {
	b := cfg.Budgets
	return decide.Budgets{
		Round:       verdict.Allowance{USD: b.Round, Time: b.RoundTime.Duration()},
		PullRequest: verdict.Allowance{USD: b.PullRequest, Time: b.PullRequestTime.Duration()},
		Day:         b.Day,
	}
}

// rested reports whether this login added the label because a day's budget was spent, and that day is over.
// Its mark applies only to the next labelling after it: the login also belongs to its owner, who may add the
// label again by hand.
func rested(pr forge.PullRequest, label string, now time.Time) bool {
	var on forge.Labelling
	var off time.Time
	for _, l := range pr.Labelled {
		switch {
		case !strings.EqualFold(l.Label, label):
		case l.Added:
			on = l
		default:
			off = l.At
		}
	}
	labelledAt := pr.LabelledAt(label)
	if labelledAt.IsZero() || !verdict.SameLogin(on.By.Login, pr.Viewer) {
		return false
	}
	over := false
	for _, c := range pr.Comments {
		if !verdict.SameLogin(c.Author.Login, pr.Viewer) || c.CreatedAt.After(labelledAt) || !c.CreatedAt.After(off) {
			continue
		}
		if _, until, ok := verdict.RestIn(c.Body); ok {
			over = !now.Before(until)
		} else if _, ok := verdict.CallIn(c.Body); ok {
			over = false
		}
	}
	return over
}

// forced returns the last force push to the head.
func forced(pr forge.PullRequest) decide.Replacement {
	if len(pr.HeadForced) == 0 {
		return decide.Replacement{}
	}
	last := pr.HeadForced[len(pr.HeadForced)-1]
	return decide.Replacement{At: last.At, SHA: last.SHA}
}

// notices returns what this login has reported to its author: why it leaves a pull request to them, and that
// edits proposed by its nits could not be applied.
func notices(pr forge.PullRequest) (all []decide.Notice) {
	for _, c := range pr.AllComments() {
		if head, topic, ok := verdict.WaitingIn(c.Body); ok && verdict.SameLogin(c.Author.Login, pr.Viewer) {
			all = append(all, decide.Notice{SHA: head, Topic: topic})
		}
	}
	return all
}

// discussed returns the findings whose conversations were resolved, or have comments that are not an agent's.
func discussed(pr forge.PullRequest, cfg config.Config) (ids []string) {
	for _, t := range FindingThreads(pr, cfg.Reviewers) {
		joined := slices.ContainsFunc(t.Comments[1:], func(c forge.Comment) bool {
			return !verdict.ListsLogin(cfg.Reviewers, c.Author.Login) && !verdict.Answers(c.Body)
		})
		if joined || t.Resolved {
			ids = append(ids, t.Finding)
		}
	}
	return ids
}

// renewedAt returns when a pull request last started over, as far as GitHub shows, or when a label that stops
// the agents was removed.
func renewedAt(pr forge.PullRequest, labels config.Labels) time.Time {
	at := pr.RenewedAt
	for _, l := range pr.Labelled {
		ours := slices.ContainsFunc([]string{labels.NeedsHuman, labels.Hold, labels.Manual},
			func(name string) bool { return strings.EqualFold(name, l.Label) })
		if ours && !l.Added && l.At.After(at) {
			at = l.At
		}
	}
	return at
}

// reportedAt returns when one of the checks last began or ended.
func reportedAt(checks []forge.Check) (at time.Time) {
	for _, c := range checks {
		if c.At.After(at) {
			at = c.At
		}
	}
	return at
}

// Labelled reports whether a pull request has a label. Like GitHub's, label names ignore case.
func Labelled(pr forge.PullRequest, label string) bool {
	return slices.ContainsFunc(pr.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}
