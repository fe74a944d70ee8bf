package worktree

import (
	"context"

	"touchstone/worktree/diff"
)

// Shown is the change that GitHub shows for a pull request, and on which it accepts comments: what the head
// changes since it left the base, in the lines of the head.
type Shown struct {
	Diff diff.Diff
	// merge is what the base changes in the head's files when they are merged.
	merge map[string]diff.File
}

// Shown compares the head with its merge base, the first if there are several, and with the merge. Errors:
// ErrUnmergeable.
func (t *Tree) Shown(ctx context.Context) (Shown, error) {
	if err := t.merge(ctx); err != nil {
		return Shown{}, err
	}
	s := Shown{merge: map[string]diff.File{}}
	var err error
	if s.Diff, err = t.mirror.diff(ctx, t.met.bases[0], t.req.Head); err != nil || t.squash.contained {
		return s, err
	}
	// Without context lines, hunks are only the changed lines.
	merge, err := t.mirror.diff(ctx, t.req.Head, t.merged, "--unified=0")
	for _, f := range merge.Files {
		s.merge[f.Path] = f
	}
	return s, err
}

// InHead maps lines of a file of the merge to the head, and says whether they are unchanged there. If the
// base changes them, the result is the nearest lines. The path is empty for a file that the head does not
// have.
func (s Shown) InHead(path string, first, last int) (headPath string, headFirst, headLast int, same bool) {
	f, ok := s.merge[path]
	switch {
	case !ok:
		return path, first, last, true
	case f.Status == "added":
		return "", 0, 0, false
	}
	headFirst, _ = inOld(f.Hunks, first)
	headLast, same = inOld(f.Hunks, last)
	// Nothing was inserted or removed in between either.
	same = same && headLast-headFirst == last-first
	for _, h := range f.Hunks {
		same = same && (h.NewLines == 0 || h.NewStart > last || h.NewStart+h.NewLines <= first)
	}
	return f.OldPath, headFirst, headLast, same
}

// inOld returns the line of the old file that corresponds to a line of the new file, or the nearest one if
// there is none. The hunks have no context.
func inOld(hunks []diff.Hunk, line int) (old int, same bool) {
	old = line
	for _, h := range hunks {
		start := h.NewStart
		if h.NewLines == 0 {
			start++ // git names the line before
		}
		if line < start {
			break
		}
		if line < start+h.NewLines {
			return max(1, min(h.OldStart+line-start, h.OldStart+max(0, h.OldLines-1))), false
		}
		old += h.OldLines - h.NewLines
	}
	return old, true
}
