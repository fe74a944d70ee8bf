package worker

import (
	"context"
	"errors"
	"slices"

	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// long are the kinds of act that take so long that people may change their minds meanwhile.
var long = []decide.Kind{decide.Review, decide.Fix, decide.Apply}

// Overtaken says why a running act has become useless, or is empty. Argument begun is the pull request as it
// was read for the decision. It reads only as much from GitHub as the kind of act needs.
func (a *Agent) Overtaken(ctx context.Context, begun forge.PullRequest, kind decide.Kind) (string, error) {
	now, head := forge.PullRequest{}, ""
	var err error
	if slices.Contains(long, kind) {
		now, err = a.Read.PullRequest(ctx, begun.Ref)
		head = now.Head.SHA
	} else {
		head, err = a.Read.HeadSHA(ctx, begun.Ref)
	}
	switch {
	case err != nil:
		return "", err
	case head != begun.Head.SHA:
		return "a newer commit was pushed", nil
	case !slices.Contains(long, kind):
		return "", nil
	}
	return a.Unwanted(ctx, kind, begun, now)
}

// Unwanted says why a pull request no longer needs an act, or is empty. Argument begun is the pull request
// when the act began, and now its present state. It makes the decision once more. An act that was started by
// hand goes on unless something new speaks against it.
func (a *Agent) Unwanted(ctx context.Context, kind decide.Kind, begun, now forge.PullRequest) (string, error) {
	switch {
	case now.Base.Name != begun.Base.Name:
		return "its base branch is " + now.Base.Name + " now", nil
	case kind == decide.Review && posted(begun, now):
		return "", nil // this very session posted it, as far as is known
	}
	now = asOf(begun, now)
	f, err := a.gather(ctx, knowledge{a.Read, a}, now)
	if err := errors.Join(err, a.remember(ctx, now, f)); err != nil {
		return "", err
	}
	before, after := a.underWay(begun, f), a.underWay(now, f)
	was, is := decide.Next(before), decide.Next(after)
	if is.Kind != kind && is.Reason != was.Reason {
		return is.Reason, nil
	}
	if kind == decide.Apply && is.Kind == kind && !slices.Equal(was.Record.Edits, is.Record.Edits) {
		return "the suggestions of its nits have changed or are no longer wanted", nil
	}
	for _, id := range before.Outstanding() {
		if kind == decide.Fix && !slices.Contains(after.Outstanding(), id) {
			return "a fix is no longer wanted for finding " + id + " any more", nil
		}
	}
	return "", nil
}

// posted reports whether this login has posted a review of the head since begun was read.
func posted(begun, now forge.PullRequest) bool {
	return slices.ContainsFunc(now.Reviews, func(r forge.SubmittedReview) bool {
		known := slices.ContainsFunc(begun.Reviews, func(b forge.SubmittedReview) bool { return b.ID == r.ID })
		return !known && r.SHA == begun.Head.SHA && verdict.SameLogin(r.Author.Login, now.Viewer)
	})
}

// asOf combines two states of a pull request: everything that people decide is from now. Where GitHub still
// computes whether the head merges, and for the head itself if the base was merged into the branch since, it
// is from begun. A push that does not fit the new head is rejected anyway.
func asOf(begun, now forge.PullRequest) forge.PullRequest {
	moved := now.Head.SHA != begun.Head.SHA
	if moved {
		now.Head, now.Checks = begun.Head, begun.Checks
	}
	if moved || now.Mergeable == forge.MergeableUnknown {
		now.Mergeable, now.Behind, now.Blocked = begun.Mergeable, begun.Behind, begun.Blocked
	}
	return now
}

// underWay is the state of a pull request on which a session is already running: the bounds on starting one
// do not apply, nor does an unanswered order stop a review.
func (a *Agent) underWay(pr forge.PullRequest, f pull.Facts) decide.State {
	f.Past, f.Commits = decide.History{}, nil
	s := pull.StateOf(pr, a.Role, a.Config(), f)
	s.MaxRounds, s.MaxAttempts, s.Budgets = 0, 0, decide.Budgets{}
	if a.Role == decide.Reviewer {
		s.Unclear = nil
	}
	return s
}
