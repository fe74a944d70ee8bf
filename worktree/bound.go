package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"touchstone/worktree/diff"
	"touchstone/worktree/gitcmd"
)

const (
	// maxChanged bounds the files that differ between a head and where it left its base: those of the largest
	// Diff, each of which may be renamed and so differ under two names.
	maxChanged = 2 * diff.MaxFiles
	// maxWalked bounds the directories in which they are looked for.
	maxWalked = 1_000_000
	// maxContent bounds the content of these files in the head, in bytes.
	maxContent = 4 << 30
)

// bounded returns ErrTooLarge if the head changes more files than any Diff has, or if their content is too long. A few
// kilobytes of directories that contain one another many times describe more files than fit on a disk, and git lists
// all of them in memory when it merges, compares or checks them out. One file that compresses well, under many names, has
// more content than fits there.
func (t *Tree) bounded(ctx context.Context) error {
	if exists(filepath.Join(t.mirror.Mirror, "objects", "info", "alternates")) {
		return nil // it borrows from the user's own clone, whose objects the library does not find
	}
	blobs, err := afresh(t, func() (map[plumbing.Hash]int64, error) {
		r, before, err := t.open(ctx, t.met.bases[0])
		if err != nil {
			return nil, err
		}
		_, after, err := t.open(ctx, t.req.Head)
		if err != nil {
			return nil, err
		}
		w := walk{r: r, blobs: map[plumbing.Hash]int64{}}
		return w.blobs, w.compare(ctx, before, after)
	})
	if err != nil {
		return err
	}
	return t.boundedContent(ctx, blobs)
}

// boundedContent returns ErrTooLarge if blobs are too long, each multiplied by the number of its names.
func (t *Tree) boundedContent(ctx context.Context, blobs map[plumbing.Hash]int64) error {
	if len(blobs) == 0 {
		return nil
	}
	if err := t.fetchBlobs(ctx, blobs); err != nil {
		return err
	}
	var names strings.Builder
	for hash := range blobs {
		names.WriteString(hash.String() + "\n")
	}
	out, err := t.mirror.OutputOf(ctx, gitcmd.Command{Stdin: strings.NewReader(names.String()),
		Args: []string{"cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"}})
	if err != nil {
		return fmt.Errorf("measure the changed files: %w", err)
	}
	left := int64(maxContent)
	for line := range strings.Lines(string(out)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		size, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("measure the changed files: git cat-file printed %q", line)
		}
		times := max(blobs[plumbing.NewHash(name)], 1)
		if size > left/times {
			return fmt.Errorf("%w: the head changes more than %d GiB of files", ErrTooLarge, maxContent>>30)
		}
		left -= size * times
	}
	return nil
}

// fetchBlobs fetches those of the blobs that a partial mirror lacks, as a checkout would, all at once.
func (t *Tree) fetchBlobs(ctx context.Context, blobs map[plumbing.Hash]int64) error {
	if !t.mirror.Partial() {
		return nil
	}
	r, err := t.openMirror()
	if err != nil {
		return err
	}
	var missing strings.Builder
	for hash := range blobs {
		if r.Storer.HasEncodedObject(hash) != nil {
			missing.WriteString(hash.String() + "\n")
		}
	}
	if missing.Len() == 0 {
		return nil
	}
	// This is how git fetches what a checkout lacks.
	err = t.mirror.Run(ctx, gitcmd.Command{Remote: &t.req.Remote, Stdin: strings.NewReader(missing.String()),
		Settings: []string{"fetch.negotiationAlgorithm=noop"},
		Args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
			"--filter=" + gitcmd.BlobFilter, "--stdin", gitcmd.Promisor}})
	t.objects = nil // the library does not see new packs
	return err
}

// walk counts what differs between two trees.
type walk struct {
	r              *git.Repository
	files, folders int
	// blobs are the changed files of the second tree: how many have a content.
	blobs map[plumbing.Hash]int64
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
			if i == 1 && e.Mode != filemode.Submodule {
				w.blobs[e.Hash]++
			}
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
