package worktree

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// LFSPointer is the beginning of a Git LFS pointer; the version of the specification follows. See
	// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
	LFSPointer = "version https://git-lfs.github.com/spec/"
	// MaxPointer bounds a pointer, in bytes, according to the same document.
	MaxPointer = 1024
)

// keepPointers refuses a commit that puts content where HEAD has a Git LFS pointer, or adds content where the
// repository's attributes want a pointer. The filters of Git LFS do not run here, so the content would stay in the
// repository itself for good, and be in the way of everybody whose Git LFS expects a pointer. entries are those of
// git diff-index -z, each followed by its path.
func (t *Tree) keepPointers(ctx context.Context, entries []string) error {
	var added, deleted []string
	blobs := map[string]string{} // by path
	for i := 0; i+1 < len(entries); i += 2 {
		f, path := strings.Fields(entries[i]), entries[i+1] // modes, SHAs, status
		if len(f) != 5 {
			continue
		}
		if f[4] == "D" {
			deleted, blobs[path] = append(deleted, path), f[2]
		}
		if !strings.HasPrefix(f[1], "100") {
			continue
		}
		if !strings.HasPrefix(f[0], ":100") { // there was no file, or a link
			added, blobs[path] = append(added, path), f[3]
			continue
		}
		kept, err := afresh(t, func() (bool, error) { return t.keepsPointer(ctx, path, f[2], f[3]) })
		if err != nil {
			return fmt.Errorf("look for pointers of Git LFS: %w", err)
		}
		if !kept {
			return fmt.Errorf("%q is kept in Git LFS, which is not used here: leave its pointer as it is", path)
		}
	}
	// The mirror unsets the attribute filter; git lfs track writes this one beside it.
	values, err := t.attributes(ctx, "merge", slices.Concat(added, deleted))
	if err != nil {
		return err
	}
	strays := map[string]bool{} // the content of files that only moved, and belonged in Git LFS before
	for _, path := range deleted {
		strays[blobs[path]] = strays[blobs[path]] || values[path] == "lfs"
	}
	for _, path := range added {
		if values[path] != "lfs" || strays[blobs[path]] {
			continue
		}
		fits, err := afresh(t, func() (bool, error) { return t.fitsLFS(ctx, path, blobs[path]) })
		if err != nil {
			return fmt.Errorf("look for pointers of Git LFS: %w", err)
		}
		if !fits {
			return fmt.Errorf("%q belongs in Git LFS by .gitattributes, which is not used here: do not add it", path)
		}
	}
	return nil
}

// fitsLFS reports whether a new file is a pointer, is empty, which is its own pointer, or comes from the merged commit.
func (t *Tree) fitsLFS(ctx context.Context, path, sha string) (bool, error) {
	r, err := t.openMirror()
	if err != nil {
		return false, err
	}
	blob, err := t.blob(ctx, r, plumbing.NewHash(sha))
	if err != nil || blob.Size == 0 {
		return err == nil, err
	}
	if is, err := t.isPointer(ctx, sha); err != nil || is {
		return is, err
	}
	return t.isTheirs(ctx, path, sha)
}

// keepsPointer reports whether a file that was a pointer still is one, or has the content that the base gave
// it.
func (t *Tree) keepsPointer(ctx context.Context, path, before, after string) (bool, error) {
	if was, err := t.isPointer(ctx, before); err != nil || !was {
		return true, err
	}
	if is, err := t.isPointer(ctx, after); err != nil || is {
		return is, err
	}
	return t.isTheirs(ctx, path, after)
}

func (t *Tree) isPointer(ctx context.Context, sha string) (bool, error) {
	r, err := t.openMirror()
	if err != nil {
		return false, err
	}
	blob, err := t.blob(ctx, r, plumbing.NewHash(sha))
	if err != nil || blob.Size > MaxPointer {
		return false, err
	}
	in, err := blob.Reader()
	if err != nil {
		return false, err
	}
	defer in.Close()
	start := make([]byte, min(blob.Size, int64(len(LFSPointer))))
	_, err = io.ReadFull(in, start)
	return string(start) == LFSPointer, err
}

// isTheirs reports whether a file's content comes from the merged commit.
func (t *Tree) isTheirs(ctx context.Context, path, sha string) (bool, error) {
	merging, err := t.Merging()
	if err != nil || merging == "" {
		return false, err
	}
	r, root, err := t.open(ctx, merging)
	if err != nil {
		return false, err
	}
	entry, err := find(r, root, path)
	return err == nil && entry.Hash.String() == sha, ignoreNotExist(err)
}
