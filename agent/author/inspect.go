package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchstone/verdict"
	"touchstone/verdict/guard"
	"touchstone/verdict/guard/junit"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// ownChange is what a session changed: what differs from the tree that it began with.
// In files with conflicts, which it resolved, that is what differs from the branch and
// from the base as well, since what one of them has is not the session's.
type ownChange struct {
	tree *worktree.Tree
	// since is the commit or tree that the session began with.
	since string
	// conflicts are the files that git could not merge, sides the commits they came from.
	conflicts, sides []string
	// head is where this program left HEAD.
	head string
	// byRuns is to judge whether the quality bar was lowered once it is known what ran, by runs, nil
	// while that is not known.
	byRuns bool
	runs   *junit.Runs
	// open are the findings that the session is asked to repair.
	open verdict.Ledger
}

// inspect says why what the session left in the tree must not be pushed. It fails
// closed: a change that cannot be read is not pushed either. Where the change is all
// the session's, it gives it a name, and the one that would take it back.
func (c ownChange) inspect(ctx context.Context) (change, undoes string, err error) {
	head, err := c.tree.Head(ctx)
	if err != nil {
		return "", "", err
	}
	if head != c.head {
		return "", "", fmt.Errorf("%w: it made commits of its own, which only this program does", ErrForbidden)
	}
	snapshot, err := c.tree.Snapshot(ctx)
	if err != nil {
		return "", "", uncommittable(ctx, err)
	}
	marked, err := c.tree.ConflictMarkers(ctx, snapshot)
	if err != nil {
		return "", "", uncommittable(ctx, err)
	}
	if len(marked) > 0 {
		return "", "", fmt.Errorf("%w: %s", ErrConflicts, strings.Join(marked, ", "))
	}
	diffs, err := c.diffs(ctx, snapshot)
	if err != nil {
		return "", "", err
	}
	if len(diffs) == 1 && len(diffs[0].Files) > 0 {
		change, undoes = names(diffs[0])
	}
	if err := errors.Join(forbidden(diffs), c.binaries(ctx, diffs)); err != nil {
		return "", "", err
	}
	if !c.byRuns {
		err = c.relaxed(ctx, diffs)
	}
	if err := errors.Join(err, c.renamed(ctx, diffs)); err != nil {
		return "", "", err
	}
	return change, undoes, written(diffs)
}

// lowered refuses a change that lowers the quality bar, by what ran as far as that is known.
func (c ownChange) lowered(ctx context.Context) error {
	snapshot, err := c.tree.Snapshot(ctx)
	if err != nil {
		return uncommittable(ctx, err)
	}
	diffs, err := c.diffs(ctx, snapshot)
	if err != nil {
		return err
	}
	return c.relaxed(ctx, diffs)
}

// uncommittable is git's complaint about what is in the tree, unless it was only stopped, or
// the disk takes nothing: that is nothing that a session could mend.
func uncommittable(ctx context.Context, err error) error {
	if ctx.Err() != nil || worktree.DiskFault(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUncommittable, err)
}

// diffs are what the session changed, as seen from each commit that it may be seen from:
// what is in all of them is its own.
func (c ownChange) diffs(ctx context.Context, snapshot string) ([]diff.Diff, error) {
	own, err := c.diff(ctx, c.since, snapshot)
	if err != nil || len(c.conflicts) == 0 {
		return []diff.Diff{own}, err
	}
	own.Files = slices.DeleteFunc(own.Files, func(f diff.File) bool { return slices.Contains(c.conflicts, f.Path) })
	var diffs []diff.Diff
	for _, side := range c.sides {
		d, err := c.diff(ctx, side, snapshot)
		if err != nil {
			return nil, err
		}
		d.Files = slices.DeleteFunc(d.Files, func(f diff.File) bool {
			return !slices.Contains(c.conflicts, f.Path) && !slices.Contains(c.conflicts, f.OldPath)
		})
		d.Files = slices.Concat(own.Files, d.Files)
		diffs = append(diffs, d)
	}
	return diffs, nil
}

func (c ownChange) diff(ctx context.Context, since, snapshot string) (diff.Diff, error) {
	diff, err := c.tree.DiffSnapshot(ctx, since, snapshot)
	if err != nil {
		return diff, uncommittable(ctx, err)
	}
	if diff.Truncated {
		return diff, fmt.Errorf("%w: the session changed more than can be looked through", ErrForbidden)
	}
	return diff, nil
}

// relaxed refuses a change that lowers the quality bar: who repairs a finding by
// silencing what found it has repaired nothing.
func (c ownChange) relaxed(ctx context.Context, diffs []diff.Diff) error {
	var own []guard.Finding
	for i, diff := range diffs {
		sides, err := c.tree.Sides(ctx, diff, guard.Examines, guard.MaxFile)
		if err != nil {
			return err
		}
		change := guard.Change{Runs: c.runs}
		for _, s := range sides {
			change.Files = append(change.Files, guard.File(s))
		}
		hits := slices.DeleteFunc(guard.Examine(change), c.allowed)
		if i > 0 {
			hits = slices.DeleteFunc(own, func(h guard.Finding) bool {
				return !slices.ContainsFunc(hits, func(o guard.Finding) bool { return o.Kind == h.Kind && o.Path == h.Path && o.After == h.After })
			})
		}
		own = hits
	}
	if len(own) == 0 {
		return nil
	}
	var lines []string
	for _, h := range own[:min(len(own), 5)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", h.Path, h.Line, h.Why))
	}
	return fmt.Errorf("%w: %s", ErrRelaxed, strings.Join(lines, "; "))
}

// allowed tells what a repair may well do: rework tests, which the next review has to answer
// for. What silences a check is refused also where it is only suspected. That a test does not run any
// more is refused unless a finding is about its file: the review has asked for that, and the
// commit says so.
func (c ownChange) allowed(f guard.Finding) bool {
	if guard.ByRuns(f) {
		return slices.ContainsFunc(c.open.Outstanding(), func(e verdict.Entry) bool { return e.Path == f.Path })
	}
	return f.Tier == guard.Evidence && (f.Kind == guard.Test || f.Kind == guard.Assertion || f.Kind == guard.Unexamined)
}

// refused reports whether an error is about what the session left, so that telling
// it can help.
func refused(err error) bool {
	return slices.ContainsFunc([]error{ErrForbidden, ErrConflicts, ErrRelaxed, ErrDeferred, ErrUnverified, ErrUncommittable,
		ErrNothingChanged},
		func(kind error) bool { return errors.Is(err, kind) })
}
