package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// maxBlob bounds the files ReadFile returns, in bytes.
const maxBlob = 8 << 20

// ReadFile returns a file as it is in commit rev, straight from the object
// store: what lies in the checkout plays no part. name is slash-separated and
// relative to the root.
//
// Errors: fs.ErrNotExist when rev has no such file; ErrTooLarge beyond 8 MiB;
// symbolic links, submodules and directories are refused, never followed.
func (t *Tree) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	r, root, err := t.open(ctx, rev)
	if err != nil {
		return nil, err
	}
	entry, err := find(r, root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	if entry.Mode != filemode.Regular && entry.Mode != filemode.Executable && entry.Mode != filemode.Deprecated {
		return nil, fmt.Errorf("read %q at %.12s: it is no regular file", name, rev)
	}
	blob, err := r.BlobObject(entry.Hash)
	if err != nil {
		return nil, fmt.Errorf("read %q at %.12s: %w", name, rev, err)
	}
	if blob.Size > maxBlob {
		return nil, fmt.Errorf("read %q at %.12s: %d bytes: %w", name, rev, blob.Size, ErrTooLarge)
	}
	content, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read %q at %.12s: %w", name, rev, err)
	}
	defer content.Close()
	return io.ReadAll(content)
}

// ReadDir returns the names in one directory of commit rev, in git's order;
// those of subdirectories end in a slash. dir "." is the root. fs.ErrNotExist
// when rev has no such directory.
func (t *Tree) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: fs.ErrInvalid}
	}
	r, tree, err := t.open(ctx, rev)
	if err != nil {
		return nil, err
	}
	if dir != "." {
		entry, err := find(r, tree, dir)
		if err == nil && entry.Mode != filemode.Dir {
			err = fs.ErrNotExist
		}
		if err == nil {
			tree, err = r.TreeObject(entry.Hash)
		}
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
		}
	}
	names := make([]string, len(tree.Entries))
	for i, e := range tree.Entries {
		names[i] = e.Name
		if e.Mode == filemode.Dir {
			names[i] += "/"
		}
	}
	return names, nil
}

// open reads the root of a commit in the mirror. The mirror is opened anew each
// time, since git fetches into it meanwhile.
func (t *Tree) open(ctx context.Context, rev string) (*git.Repository, *object.Tree, error) {
	if err := errors.Join(ctx.Err(), checkSHAs(rev)); err != nil {
		return nil, nil, err
	}
	r, err := git.PlainOpen(t.mirror.mirror)
	if err != nil {
		return nil, nil, fmt.Errorf("open the mirror: %w", err)
	}
	commit, err := r.CommitObject(plumbing.NewHash(rev))
	if err != nil {
		return nil, nil, fmt.Errorf("read commit %.12s: %w", rev, err)
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, nil, fmt.Errorf("read commit %.12s: %w", rev, err)
	}
	return r, tree, nil
}

// find follows a path from a tree, or says fs.ErrNotExist. The library's own way
// refuses names that git allows.
func find(r *git.Repository, tree *object.Tree, name string) (object.TreeEntry, error) {
	first, rest, deeper := strings.Cut(name, "/")
	i := slices.IndexFunc(tree.Entries, func(e object.TreeEntry) bool { return e.Name == first })
	switch {
	case i < 0, deeper && tree.Entries[i].Mode != filemode.Dir:
		return object.TreeEntry{}, fs.ErrNotExist
	case !deeper:
		return tree.Entries[i], nil
	}
	tree, err := r.TreeObject(tree.Entries[i].Hash)
	if err != nil {
		return object.TreeEntry{}, err
	}
	return find(r, tree, rest)
}
