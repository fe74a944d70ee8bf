package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/pause"
)

// knowledge asks GitHub, and git on this machine.
type knowledge struct {
	pull.Source
	agent *Agent
}

// Makes reports whether merging the head into the present tip of the base makes the change that a review saw,
// file for file. It is computed once for each head and base.
func (k knowledge) Makes(ctx context.Context, pr forge.PullRequest, r verdict.Record) (bool, error) {
	key := fmt.Sprint(pr.Ref, pr.Head.SHA, pr.Base.SHA, r.Base, r.Tree)
	if last, ok := k.agent.made.Load(pr.Ref); ok && last.(comparison).key == key {
		return last.(comparison).same, nil
	}
	request, err := k.agent.request(ctx, pr)
	if err != nil {
		return false, err
	}
	same, err := k.agent.Worktrees.Makes(ctx, request, reviewed(r))
	if errors.Is(err, worktree.ErrHeadMoved) {
		return false, fmt.Errorf("%w: %w", ErrMovedOn, err)
	}
	if err == nil {
		k.agent.made.Store(pr.Ref, comparison{key, same})
	}
	return same, err
}

// comparison is the result of the last comparison for a pull request.
type comparison struct {
	key  string
	same bool
}

// reviewed is the merge that a review looked at.
func reviewed(r verdict.Record) worktree.Squash {
	return worktree.Squash{Base: r.Base, Head: r.Head, Tree: r.Tree}
}

// request names the commits of a pull request for git.
func (a *Agent) request(ctx context.Context, pr forge.PullRequest) (worktree.Request, error) {
	return a.Remote.Request(ctx, pr, string(a.Role))
}

// approvals are the records that a head is merged on: the latest approval of each reviewer. If one of them is for the
// base, those for other bases are no part of the merge.
func (a *Agent) approvals(pr forge.PullRequest, head string) []verdict.Record {
	latest := map[string]verdict.Record{}
	for _, r := range pr.Reviews {
		o := a.Trust.Opinion(pr, r, a.Config().Reviewers)
		if o.Record != nil && o.Doubt == "" && !o.Edited && r.State == forge.Approved && r.SHA == head && a.counts(pr, r.Author.Login) {
			latest[strings.ToLower(r.Author.Login)] = *o.Record
		}
	}
	all := slices.Collect(maps.Values(latest))
	elsewhere := func(r verdict.Record) bool { return r.BaseBranch != pr.Base.Name }
	if here := slices.DeleteFunc(slices.Clone(all), elsewhere); len(here) > 0 {
		return here
	}
	return all
}

// checking is the act of comparing a merge with what was approved.
const checking = "check-merge"

// sights is how often a merge commit is looked for on its branch. firstSight is the first pause; it doubles
// each time.
const (
	sights     = 5
	firstSight = 200 * time.Millisecond
)

// checkMerge compares a merge commit with what was approved: it must be on the branch that was decided on,
// contain the history that was reviewed, and change the branch as the reviews saw it. If it does not, people
// are called at once: GitHub merges what exists at that moment, and that may have changed since the last
// look.
func (a *Agent) checkMerge(ctx context.Context, pr forge.PullRequest, head, merge string) error {
	now, err := a.Read.PullRequest(ctx, pr.Ref)
	if err != nil {
		return fmt.Errorf("look at the pull request that was merged: %w", err)
	}
	records := a.approvals(pr, head)
	if len(records) == 0 {
		return a.revert(ctx, now, head, merge, "no approval of this head exists any more")
	}
	for _, record := range records {
		if now.Base.Name != record.BaseBranch {
			return a.revert(ctx, now, head, merge, fmt.Sprintf("%s was approved for %s and merged into %s", verdict.Short(head), record.BaseBranch,
				now.Base.Name))
		}
		holds, err := a.Read.Contains(ctx, pr.Ref.Repo, merge, record.Base)
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			return fmt.Errorf("compare the merge's base with what was reviewed: %w", err)
		}
		if !holds {
			return a.revert(ctx, now, head, merge, fmt.Sprintf("%s was force-pushed at that moment: it no longer contains %s, against which "+
				"it was reviewed", now.Base.Name, verdict.Short(record.Base)))
		}
		same, err := a.madeAs(ctx, now, record, merge)
		if err != nil {
			return fmt.Errorf("compare the merge with what was approved: %w", err)
		}
		if !same {
			return a.revert(ctx, now, head, merge, fmt.Sprintf("what it changes in %s is not what was approved at %s", now.Base.Name,
				verdict.Short(head)))
		}
	}
	return nil
}

// madeAs reports whether a merge commit makes the change that a review saw. Git may see the commit a moment
// later than the API. A commit that does not appear on its branch is not what was approved.
func (a *Agent) madeAs(ctx context.Context, pr forge.PullRequest, r verdict.Record, merge string) (same bool, err error) {
	request, err := a.request(ctx, pr)
	if err != nil {
		return false, err
	}
	request.Head, request.Base = r.Head, merge
	for n := range sights {
		same, err = a.Worktrees.Made(ctx, request, reviewed(r))
		if !errors.Is(err, worktree.ErrHeadMoved) {
			return same, err
		}
		if !pause.For(ctx, firstSight<<n) {
			return false, context.Cause(ctx)
		}
	}
	return false, nil
}

// revert calls people to a merge that differs from what was approved, with the commands to revert it. As in
// any other call, the comment comes first, then the label. If the comment is there and the label was never set,
// it sets that.
func (a *Agent) revert(ctx context.Context, pr forge.PullRequest, head, merge, why string) error {
	mark := verdict.MergeMark(merge)
	for _, c := range pr.Comments {
		if strings.HasSuffix(c.Body, mark) && verdict.SameLogin(c.Author.Login, pr.Viewer) {
			if !pull.HalfCalled(pr, a.Config().Labels.NeedsHuman, false) {
				return nil
			}
			return a.label(ctx, pr)
		}
	}
	branch := fmt.Sprintf("revert-%d", pr.Ref.Number)
	body := fmt.Sprintf(pull.CallTitle+"the merge is not what was approved\n\n%s was merged as %s, and %s. Check that commit "+
		"now. To revert it:\n\n"+
		"```\ngit fetch origin %[4]s\ngit switch -c %[5]s FETCH_HEAD\ngit revert --no-edit %[2]s\ngit push origin %[5]s\n```\n\nThen open a "+
		"pull request of `%[5]s`; GitHub's button *Revert* does the same. Remove the label `%[6]s` when that is settled.\n\n%[7]s\n%[8]s",
		verdict.Short(head), merge, verdict.Prose(why), pr.Base.Name, branch, a.Config().Labels.NeedsHuman, pull.CallOf(pr).Mark(), mark)
	if _, err := a.Caller.Comment(ctx, pr.Ref, body); err != nil {
		return fmt.Errorf("call a person to a merge that is not what was approved (%s): %w", why, err)
	}
	zerolog.Ctx(ctx).Error().Str("merge", merge).Msg("the merge is not what was approved: " + why)
	a.notify(ctx, fmt.Sprintf("%s was merged as %s, which is not what was approved: %s\n%s", pr.Ref, verdict.Short(merge), why, pr.URL))
	return a.label(ctx, pr)
}

// recheck compares what this machine merged, or put into a merge queue, with what was approved, unless that
// was done right after the merge.
func (a *Agent) recheck(ctx context.Context, pr forge.PullRequest) error {
	done := func(e journal.Entry) bool { return e.Act == checking && e.Outcome.OK }
	if pr.MergeSHA == "" || !a.mergedHere(pr) || a.acted(pr, done) {
		return nil
	}
	if err := a.checked(ctx, pr, pr.Head.SHA, pr.MergeSHA); err != nil {
		return fmt.Errorf("check whether the merge is what was approved: %w", err)
	}
	return nil
}

// checked is checkMerge, recorded in the journal if there is one.
func (a *Agent) checked(ctx context.Context, pr forge.PullRequest, head, merge string) error {
	if a.Journal == nil {
		return a.checkMerge(ctx, pr, head, merge)
	}
	return a.recorded(pr, head, checking, func() error { return a.checkMerge(ctx, pr, head, merge) })
}

// recorded does something that costs nothing, and records it in the journal.
func (a *Agent) recorded(pr forge.PullRequest, head, act string, do func() error) error {
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: head, Act: act})
	if err != nil {
		return err
	}
	err = do()
	outcome := journal.Outcome{OK: err == nil}
	if err != nil {
		outcome.Detail = err.Error()
	}
	return errors.Join(err, a.Journal.End(id, outcome))
}
