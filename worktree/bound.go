package worktree

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"touchstone/worktree/diff"
)

const (
	// maxChanged bounds the files that differ between a head and where it left its base: those of the largest
	// Diff, each of which may be renamed and so differ under two names.
	maxChanged = 2 * diff.MaxFiles
	// maxWalked bounds the directories in which they are looked for.
	maxWalked = 1_000_000
)

// bounded returns ErrTooLarge if the head changes more files than any Diff has. A few kilobytes of directories
// that contain one another many times describe more files than fit on a disk, and git lists all of them in
// memory when it merges, compares or checks them out.
func (t *Tree) bounded(ctx context.Context) error {
	if exists(filepath.Join(t.mirror.Mirror, "objects", "info", "alternates")) {
		return nil // it borrows from the user's own clone, whose objects the library does not find
	}
	_, err := afresh(t, func() (struct{}, error) {
		r, before, err := t.open(ctx, t.met.bases[0])
		if err != nil {
			return struct{}{}, err
		}
		_, after, err := t.open(ctx, t.req.Head)
		if err != nil {
			return struct{}{}, err
		}
		w := walk{r: r}
		return struct{}{}, w.compare(ctx, before, after)
	})
	return err
}

// walk counts what differs between two trees.
type walk struct {
	r              *git.Repository
	files, folders int
}

// compare adds what differs between two trees; nil is an empty one.
func (w *walk) compare(ctx context.Context, before, after *object.Tree) error {
	if w.folders++; w.folders > maxWalked || ctx.Err() != nil {
		return w.stop(ctx)
	}
	was := map[string]object.TreeEntry{}
	if before != nil {
		for _, e := range before.Entries {
			was[e.Name] = e
		}
	}
	if after != nil {
		for _, is := range after.Entries {
			old := was[is.Name]
			delete(was, is.Name)
			if err := w.entry(ctx, old, is); err != nil {
				return err
			}
		}
	}
	for _, old := range was {
		if err := w.entry(ctx, old, object.TreeEntry{}); err != nil {
			return err
		}
	}
	return nil
}

// entry adds what differs between two entries of one name; the zero entry is one that does not exist.
func (w *walk) entry(ctx context.Context, old, is object.TreeEntry) error {
	if old.Hash == is.Hash && old.Mode == is.Mode {
		return nil
	}
	var trees [2]*object.Tree
	for i, e := range []object.TreeEntry{old, is} {
		switch {
		case e.Mode == filemode.Dir:
			var err error
			if trees[i], err = w.r.TreeObject(e.Hash); err != nil {
				return unreadable{err}
			}
		case e.Hash != plumbing.ZeroHash:
			w.files++
		}
	}
	if w.files > maxChanged {
		return w.stop(ctx)
	}
	if trees[0] == nil && trees[1] == nil {
		return nil
	}
	return w.compare(ctx, trees[0], trees[1])
}

func (w *walk) stop(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: the head changes more than %d files", ErrTooLarge, diff.MaxFiles)
}
