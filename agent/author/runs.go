package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/agent/engine/session"
	"touchstone/verdict"
	"touchstone/verdict/guard/junit"
	"touchstone/worktree"
)

const (
	// maxNamed bounds how many tests a commit message names. maxTest bounds each name, in bytes.
	maxNamed = 5
	maxTest  = 100
)

// compareRuns compares the test reports of the fix with those of the base. If a test is lost in between, it
// also compares them with the reports of the branch before the session, since tests that were lost there are
// not the session's fault. If nothing can be compared, only the code is judged.
func (r *repair) compareRuns(ctx context.Context, head tested) error {
	base, err := r.baseReports(ctx)
	if err = cmp.Or(err, base.unusable()); err != nil {
		if errors.Is(head.unread, errCommitted) {
			return r.uncompared(ctx, head.unread) // the reports of the base are kept without this reason
		}
		return r.uncompared(ctx, fmt.Errorf("of the base: %w", err))
	}
	broken := head.unusable()
	if broken == nil {
		whole, err := junit.Read(base.reports, head.reports)
		if err != nil {
			return err
		}
		all := lost(whole)
		if len(all) == 0 {
			r.own.runs = whole
			return nil
		}
		r.lost = verdict.Clip(line(strings.Join(all, "; ")), maxEvidence)
	}
	if r.before == nil {
		before, err := r.testedBefore(ctx)
		if err != nil {
			return err
		}
		r.before = &before
	}
	before, unknown := *r.before, r.before.unusable()
	switch {
	case broken != nil && unknown == nil:
		return &failure{kind: ErrUnverified, what: "the test reports that verify.reports names were right before this work",
			output: broken.Error()}
	case broken != nil:
		return r.uncompared(ctx, fmt.Errorf("of the fix: %w", broken))
	case unknown != nil:
		before.reports = nil // the branch itself may have lost the tests; which tests pass is still known
	}
	r.own.runs, err = junit.Read(before.reports, head.reports)
	return err
}

// uncompared logs why no test runs are compared.
func (r *repair) uncompared(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return why
	}
	zerolog.Ctx(ctx).Warn().Err(why).Strs("reports",
		r.verify.Reports).Msg("what ran is not compared: the code alone tells whether tests are lost")
	return nil
}

// lost are the tests that passed before and do not pass now, as one phrase for each way. A test that passes
// in another class or file was moved, and is not lost.
func lost(runs *junit.Runs) (phrases []string) {
	gone := slices.DeleteFunc(runs.Missing(), func(c junit.Case) bool { return runs.Passed(c.Name, []string{c.Class}) })
	for _, way := range []struct {
		says  string
		cases []junit.Case
	}{{"not run any more", gone}, {"skipped now", runs.Skipped()}, {"passed at a further try only", runs.Retried()}} {
		var names []string
		for _, c := range way.cases[:min(len(way.cases), maxNamed)] {
			names = append(names, verdict.Clip(c.String(), maxTest))
		}
		if more := len(way.cases) - len(names); more > 0 {
			names = append(names, strconv.Itoa(more)+" more")
		}
		if len(names) > 0 {
			phrases = append(phrases, way.says+": "+strings.Join(names, ", "))
		}
	}
	return phrases
}

// baseReports are the reports of the base. Its verify command runs once for each base commit.
func (r *repair) baseReports(ctx context.Context) (tested, error) {
	kept := r.keptReports()
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		zerolog.Ctx(ctx).Info().Msg("verify runs on the base, for the reports of its tests")
		if _, err := r.runOnBase(ctx); err != nil {
			return tested{}, err
		}
	}
	return readReports(kept, []string{"*"}), nil
}

// testedBefore runs the verify command in the worktree on what the session started with. Afterwards the
// worktree has the fix again.
func (r *repair) testedBefore(ctx context.Context) (t tested, err error) {
	zerolog.Ctx(ctx).Info().Msg("verify runs on what the session began with: the fix lacks test runs of the base")
	if err := r.tree.Discard(ctx, cmp.Or(r.merge.Commit, r.begun.Head.SHA)); err != nil {
		return t, err
	}
	err = step(ctx, "verify before", func(ctx context.Context) (err error) {
		t, err = r.verifyIn(ctx, r.tree, session.Caches(r.tree.Dir(), session.ForVerify))
		return err
	})
	if f := (*failure)(nil); errors.As(err, &f) {
		err = nil // the tests that ran are reported nevertheless
	}
	return t, errors.Join(err, r.tree.Discard(context.WithoutCancel(ctx), r.out.Head))
}

// verifyIn runs the verify command in a tree. It deletes earlier reports first, so that the reports are from this run.
// If the patterns match committed files, there are none.
func (r *repair) verifyIn(ctx context.Context, tree *worktree.Tree, caches string) (tested, error) {
	committed, err := r.committed(ctx, tree)
	if err != nil {
		return tested{}, err
	}
	unread := clearReports(tree.Dir(), r.verify.Reports, committed)
	if unread != nil && !errors.Is(unread, errCommitted) {
		return tested{}, unread
	}
	err = r.author.execute(ctx, ErrUnverified, tree.Dir(), caches, r.verify.Command, r.verify.Timeout.Duration())
	if unread != nil {
		return tested{unread: unread}, err
	}
	return readReports(tree.Dir(), r.verify.Reports), err
}

// committed are the files of the commit that is checked out in a tree, if reports are looked for.
func (r *repair) committed(ctx context.Context, tree *worktree.Tree) (map[string]bool, error) {
	if len(r.verify.Reports) == 0 {
		return nil, nil
	}
	head, err := tree.Head(ctx)
	if err != nil {
		return nil, err
	}
	files, err := tree.List(ctx, head)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(files))
	for _, f := range files {
		names[f.Path] = true
	}
	return names, nil
}
