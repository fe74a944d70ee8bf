package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/quality"
	"touchstone/verdict"
	"touchstone/verdict/guard"
	"touchstone/verdict/guard/junit"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// ownChange is what a session changed: the difference from the tree that it started with. In files whose
// conflicts it resolved, only what also differs from both the branch and the base counts, since everything
// else comes from one of them.
type ownChange struct {
	tree *worktree.Tree
	// since is the commit or tree that the session started with.
	since string
	// conflicts are the files that git could not merge. sides are the commits they come from.
	conflicts, sides []string
	// head is the commit to which this program last set HEAD. merging is the commit whose merge the session's work
	// concludes, if it is not committed yet.
	head, merging string
	// byRuns says that whether the quality bar was lowered is judged later, from the test runs. runs are
	// those test runs, nil until they are known.
	byRuns bool
	runs   *junit.Runs
	// open are the findings that the session must fix.
	open verdict.Ledger
}

// inspect says why what the session left in the tree must not be pushed. It fails closed: a change that
// cannot be read is not pushed either. If the session alone made the change, it returns identifiers for the
// change and for its revert.
func (c ownChange) inspect(ctx context.Context) (change, undoes string, err error) {
	head, err := c.tree.Head(ctx)
	if err != nil {
		return "", "", err
	}
	if head != c.head {
		return "", "", fmt.Errorf("%w: it made its own commits, which only this program may do", ErrForbidden)
	}
	if err := c.otherMerge(); err != nil {
		return "", "", err
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
	if err := errors.Join(forbidden(diffs), c.links(ctx, diffs, snapshot), c.binaries(ctx, diffs)); err != nil {
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

// otherMerge rejects a merge that is not the one that this program began. It tells a session how to bring that one back. Git
// refuses to stash files that are in conflict, but not those that a session resolved and added.
func (c ownChange) otherMerge() error {
	merging, err := c.tree.Merging()
	switch {
	case err != nil || merging == c.merging:
		return err
	case c.merging == "":
		return fmt.Errorf("%w: it began a merge, which only this program may do; end it with `git merge --abort`", ErrForbidden)
	}
	return fmt.Errorf("%w: it ended the merge of the base, as git stash, git reset, and tools that stash changes do; bring the merged files "+
		"back first, for instance with `git stash pop`, and then the merge with `git update-ref MERGE_HEAD %s`; if a tool did it, do not "+
		"run that tool again", ErrForbidden, c.merging)
}

// lowered rejects a change that lowers the quality bar, judged by the test runs as far as they are known.
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

// uncommittable wraps git's error about the content of the tree, which a session could repair. A cancelled
// context and a disk fault are returned as they are.
func uncommittable(ctx context.Context, err error) error {
	if ctx.Err() != nil || worktree.DiskFault(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUncommittable, err)
}

// diffs are the session's changes, as seen from each commit that they can be compared with: what is in all of
// the diffs is the session's own.
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
		return diff, fmt.Errorf("%w: the session changed too much to check", ErrForbidden)
	}
	return diff, nil
}

// relaxed rejects a change that lowers the quality bar: silencing the check that found a defect does not fix
// the defect.
func (c ownChange) relaxed(ctx context.Context, diffs []diff.Diff) error {
	var own []guard.Finding
	for i, diff := range diffs {
		sides, err := c.tree.Sides(ctx, diff, guard.Examines, guard.MaxFile)
		if err != nil {
			return err
		}
		change := quality.Change(sides)
		change.Runs = c.runs
		hits, err := quality.Examine(ctx, change)
		if err != nil {
			return err
		}
		hits = slices.DeleteFunc(hits, c.allowed)
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
		lines = append(lines, fmt.Sprintf("%s:%d: %s", h.Path, h.Line, h.Message()))
	}
	return fmt.Errorf("%w: %s", ErrRelaxed, strings.Join(lines, "; "))
}

// allowed reports whether a fix may do what the guard found. It may rework tests, since the next review
// judges that. Silencing a check is rejected even if it is only suspected. That a test no longer runs, or is
// gone, is rejected, unless a finding is about its file: then the review asked for it, and the commit says so.
func (c ownChange) allowed(f guard.Finding) bool {
	if guard.Loses(f) {
		return slices.ContainsFunc(c.open.Outstanding(), func(e verdict.Entry) bool { return e.Path == f.Path })
	}
	return f.Tier == guard.Evidence && (f.Kind == guard.Test || f.Kind == guard.Assertion || f.Kind == guard.Unexamined)
}

// refused reports whether an error is about what the session left, so that it helps to tell the session.
func refused(err error) bool {
	return slices.ContainsFunc([]error{ErrForbidden, ErrConflicts, ErrRelaxed, ErrDeferred, ErrUnverified, ErrUncommittable,
		ErrNothingChanged},
		func(kind error) bool { return errors.Is(err, kind) })
}
