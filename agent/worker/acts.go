package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/engine"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/merger"
	"touchstone/agent/pull"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// Overtaken reports whether an act ended because the pull request moved on, so that all there is to do is to
// look again.
func Overtaken(err error) bool {
	return errors.Is(err, ErrMovedOn) || errors.Is(err, reviewer.ErrOvertaken) || errors.Is(err, author.ErrOvertaken) ||
		errors.Is(err, merger.ErrOvertaken)
}

func (a *Agent) review(ctx context.Context, step *Step) error {
	orders, err := a.Orders(ctx, step.PR)
	if err != nil {
		return err
	}
	out, err := a.Reviewer.Review(ctx, step.PR, reviewer.Options{Progress: progress(ctx), Orders: orders, Allowance: a.allowance(step.Action)})
	step.EngineStarted = out.Started
	if errors.Is(err, worktree.ErrUnmergeable) && step.PR.Mergeable == forge.MergeableUnknown {
		return fmt.Errorf("%w: %w", ErrMovedOn, err) // GitHub is about to find that, too
	}
	if err == nil {
		step.Verdict, step.URL = out.Record.Verdict, out.URL
		step.Findings, step.CostUSD = len(out.Judgement.Answer.Findings), out.Record.CostUSD
		step.Sum = out.Judgement.Sum()
	}
	return err
}

func (a *Agent) fix(ctx context.Context, step *Step) error {
	out, err := a.Author.Fix(ctx, step.PR, a.allowance(step.Action), progress(ctx))
	step.Head, step.CostUSD, step.EngineStarted = out.Head, out.CostUSD, out.Started
	switch {
	case errors.Is(err, author.ErrDisputed) && !a.disputed(step.PR):
		step.Head = ""
		step.URL, err = a.Caller.Comment(ctx, step.PR.Ref, verdict.Disputes(step.PR.Head.SHA, out.Disputed))
	case err == nil:
		a.answer(ctx, step.PR, answersOf(out))
	}
	return err
}

// disputed reports whether this login has already disputed the review of the present head: the reviewer
// judges disputes once.
func (a *Agent) disputed(pr forge.PullRequest) bool {
	return slices.ContainsFunc(pr.Comments, func(c forge.Comment) bool {
		return verdict.SameLogin(c.Author.Login, pr.Viewer) && verdict.HasDisputed(c.Body, pr.Head.SHA)
	})
}

func (a *Agent) merge(ctx context.Context, step *Step) error {
	sha, err := a.Merger.Merge(ctx, step.PR.Ref, step.Action.SHA)
	step.Head = sha
	if sha != "" {
		// It is merged even if this check fails. An agent with a journal repeats the check when it next looks
		// at the pull request.
		if err := a.checked(ctx, step.PR, step.Action.SHA, sha); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("it is merged; cannot check yet whether the merge is what was approved")
		}
	}
	// An agent with a journal deletes the branch when it sees that the pull request is merged.
	if sha == "" || a.Journal != nil || !a.Config().Merge.DeleteBranch {
		return err
	}
	if err := a.Merger.Tidy(ctx, step.PR, step.Action.SHA); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("it is merged, but its branch is still there")
	}
	return nil
}

// dequeue takes a pull request out of the merge queue.
func (a *Agent) dequeue(ctx context.Context, step *Step) error {
	return a.Merger.Withdraw(ctx, step.PR)
}

// GiveUp releases the worktree of a closed pull request, whose files make the next new pull request start
// fast. It also deletes the branch if this machine merged the pull request or put it into a merge queue. On
// errors, things are left behind and logged. The error it returns says that what this machine merged could not be
// compared with what was approved, so that GiveUp has to be called again.
func (a *Agent) GiveUp(ctx context.Context, pr forge.PullRequest) error {
	log := zerolog.Ctx(ctx)
	a.heads.forget(pr.Ref)
	a.statuses.forget(pr.Ref)
	if err := a.Worktrees.Remove(ctx, pr.Ref.Repo.String(), pr.Ref.Number, string(a.Role)); err != nil {
		log.Debug().Err(err).Msg("cannot remove the worktree; it is kept")
	}
	a.made.Delete(pr.Ref)
	if pr.Merged { // a pull request that was closed without a merge may be reopened
		if err := a.Trust.Forget(pr.DatabaseID); err != nil {
			log.Debug().Err(err).Msg("cannot delete the notes of whose orders were ignored there")
		}
	}
	unchecked := a.recheck(ctx, pr)
	if !a.Config().Merge.DeleteBranch || !a.mergedHere(pr) {
		return unchecked
	}
	if err := a.recorded(pr, pr.Head.SHA, tidying, func() error { return a.Merger.Tidy(ctx, pr, pr.Head.SHA) }); err != nil {
		log.Warn().Err(err).Msg("it is merged, but its branch may still be there")
	}
	return unchecked
}

// tidying is the act of deleting the branch after a merge.
const tidying = "tidy"

// mergedHere reports whether this agent merged a merged pull request or put it into a merge queue, and has not
// deleted its branch.
func (a *Agent) mergedHere(pr forge.PullRequest) bool {
	return a.Role == decide.Author && pr.Merged && pr.MergedAt != nil && a.merged(pr, forge.Enqueuing{By: pr.MergedBy, At: *pr.MergedAt})
}

// merged reports whether this machine merged the present head or put it into a merge queue, and has neither
// taken it out again nor deleted its branch. If GitHub's answer to the request was lost, the merge that
// GitHub shows decides.
func (a *Agent) merged(pr forge.PullRequest, seen forge.Enqueuing) bool {
	merged := false
	a.entries(pr, func(e journal.Entry) {
		back := e.Act == tidying || e.Act == string(decide.Dequeue) && e.Outcome.OK
		merged = e.Act == string(decide.Merge) && (e.Outcome.OK || own(pr, e, seen)) || merged && !back
	})
	return merged
}

// did reports whether this machine did what GitHub shows.
func (a *Agent) did(pr forge.PullRequest, kind decide.Kind, seen forge.Enqueuing) bool {
	return a.acted(pr, func(e journal.Entry) bool { return e.Act == string(kind) && own(pr, e, seen) })
}

// acted reports whether one of this machine's acts on the present head is as asked.
func (a *Agent) acted(pr forge.PullRequest, is func(journal.Entry) bool) (found bool) {
	a.entries(pr, func(e journal.Entry) { found = found || is(e) })
	return found
}

// entries calls each for all acts of this machine on the present head.
func (a *Agent) entries(pr forge.PullRequest, each func(journal.Entry)) {
	if a.Journal == nil {
		return
	}
	a.Journal.Each(func(e journal.Entry) {
		if e.Ref == pr.Ref.String() && e.SHA == pr.Head.SHA {
			each(e)
		}
	})
}

// atOnce is the largest difference between the start of an act and GitHub's time for it: as long as a request
// may take.
const atOnce = 5 * time.Minute

// own reports whether an act is the one that GitHub shows, by login and time. The login's owner may have done
// the same by hand within those minutes; that is not told apart.
func own(pr forge.PullRequest, e journal.Entry, seen forge.Enqueuing) bool {
	return verdict.SameLogin(seen.By.Login, pr.Viewer) && seen.At.Sub(e.Begun).Abs() < atOnce
}

// Note stores what the agent waits for on a head, or that it does so no more, for touchstone status.
func (a *Agent) Note(ctx context.Context, ref forge.Ref, sha string, action decide.Action) {
	if a.Journal == nil {
		return
	}
	note := a.Journal.Note
	if !action.Noted {
		note = a.Journal.Over
	}
	if err := note(ref.String(), sha, action.Reason); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("touchstone status will not show this wait or its end")
	}
}

// List returns the numbers of a repository's pull requests that the agent may have to act on: the open ones
// and, for the author's agent, those that GitHub closed because their base was deleted.
func (a *Agent) List(ctx context.Context, repo forge.Repo) (numbers []int, err error) {
	open, err := a.Read.OpenPullRequests(ctx, repo)
	if err == nil && a.Role == decide.Author {
		numbers, err = a.Read.Orphans(ctx, repo)
	}
	for _, pr := range open {
		numbers = append(numbers, pr.Number)
	}
	return numbers, err
}

// Prepare makes the next new pull request of a repository start fast.
func (a *Agent) Prepare(ctx context.Context, repo forge.Repo) error {
	url, authorization, err := a.Remote(ctx, repo)
	if err != nil {
		return err
	}
	return a.Worktrees.Prepare(ctx, worktree.Remote{URL: url, Authorization: authorization}, repo.String(), "HEAD")
}

// CountsAsAttempt reports whether a failed act counts against the bounded attempts on its head. Failures that say
// nothing about the pull request are retried without a bound, except if each attempt costs a session.
func CountsAsAttempt(err error, step Step) bool {
	switch {
	case err == nil, Overtaken(err):
		return false
	case errors.Is(err, fallback.ErrResting), errors.Is(err, forge.ErrUnauthorized): // the agent ends because of this
		return false
	case Hindrance(err) != "":
		return step.Paid
	case errors.Is(err, forge.ErrUnavailable), errors.Is(err, forge.ErrRateLimited),
		errors.Is(err, worktree.ErrUnavailable), errors.Is(err, worktree.ErrBusy):
		return !step.EngineStarted.IsZero()
	}
	return true
}

// permanent reports whether a failed act would fail again until a person changes something. If no session
// ran, it returns false for missing permissions, since another attempt costs nothing.
func permanent(err error, step Step) bool {
	var stopped *engine.Error
	switch {
	case errors.As(err, &stopped) && (stopped.Class == engine.Budget && !step.Action.Daily || stopped.Class == engine.MaxTurns ||
		stopped.Class == engine.PromptTooLarge):
		return true
	case errors.Is(err, author.ErrUnpushable), errors.Is(err, author.ErrNoVerify), errors.Is(err, author.ErrFailsOnBase),
		errors.Is(err, author.ErrDisputed), errors.Is(err, author.ErrNeedsPerson), errors.Is(err, author.ErrUndecided):
		return true
	}
	return errors.Is(err, forge.ErrForbidden) && !step.EngineStarted.IsZero()
}

// allowance is what an act may cost. For an act that was ordered by hand it is the budget of one round.
func (a *Agent) allowance(action decide.Action) verdict.Allowance {
	if action.Allowance != (verdict.Allowance{}) {
		return action.Allowance
	}
	return pull.BudgetsOf(a.Config()).Round
}
