package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"touchstone/worktree/gitcmd"
)

// maxBlob bounds the files that ReadFile returns, in bytes.
const maxBlob = 8 << 20

// ReadFile returns a file as it is in commit rev, straight from the object store; the checkout is not used.
// name is slash-separated and relative to the root. Like ReadDir, ReadFile may be called by several
// goroutines at once.
//
// Errors: fs.ErrNotExist if rev has no such file; ErrTooLarge beyond 8 MiB. Symbolic links, submodules and
// directories are refused, never followed.
func (t *Tree) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return afresh(t, func() ([]byte, error) { return t.readFile(ctx, rev, name) })
}

func (t *Tree) readFile(ctx context.Context, rev, name string) ([]byte, error) {
	r, root, err := t.open(ctx, rev)
	if err != nil {
		return nil, err
	}
	entry, err := find(r, root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	if entry.Mode != filemode.Regular && entry.Mode != filemode.Executable && entry.Mode != filemode.Deprecated {
		return nil, fmt.Errorf("read %q at %.12s: it is not a regular file: %w", name, rev, fs.ErrInvalid)
	}
	blob, err := t.blob(ctx, r, entry.Hash)
	if err != nil {
		return nil, fmt.Errorf("read %q at %.12s: %w", name, rev, err)
	}
	if blob.Size > maxBlob {
		return nil, fmt.Errorf("read %q at %.12s: %d bytes: %w", name, rev, blob.Size, ErrTooLarge)
	}
	in, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read %q at %.12s: %w", name, rev, unreadable{err})
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %q at %.12s: %w", name, rev, unreadable{err})
	}
	return content, nil
}

// ReadDir returns the names in one directory of commit rev, in git's order; those of subdirectories and
// submodules end in a slash. dir "." is the root. It returns fs.ErrNotExist if rev has no such directory.
func (t *Tree) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: fs.ErrInvalid}
	}
	return afresh(t, func() ([]string, error) { return t.readDir(ctx, rev, dir) })
}

func (t *Tree) readDir(ctx context.Context, rev, dir string) ([]string, error) {
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
			if tree, err = r.TreeObject(entry.Hash); err != nil {
				err = unreadable{err}
			}
		}
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
		}
	}
	names := make([]string, len(tree.Entries))
	for i, e := range tree.Entries {
		names[i] = e.Name
		if e.Mode == filemode.Dir || e.Mode == filemode.Submodule {
			names[i] += "/"
		}
	}
	return names, nil
}

// maxObjects bounds the objects that a tree keeps in memory after reading, in bytes.
const maxObjects = 8 * cache.MiByte

// unreadable is an object that could not be read. It does not unwrap to its cause, which is fs.ErrNotExist
// when a pack is gone: callers must not conclude that the commit lacks the file.
type unreadable struct{ error }

// afresh calls read. If an object could not be read, it opens the mirror again and reads once more: git may
// have repacked the objects meanwhile. Opening the mirror reads the index of each pack, so it is not done for
// each file.
func afresh[T any](t *Tree, read func() (T, error)) (T, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	opened := t.objects != nil
	value, err := read()
	if !opened || !errors.As(err, new(unreadable)) {
		return value, err
	}
	t.objects = nil
	return read()
}

// open returns the root tree of a commit in the mirror.
func (t *Tree) open(ctx context.Context, rev string) (*git.Repository, *object.Tree, error) {
	if err := errors.Join(ctx.Err(), checkSHAs(rev)); err != nil {
		return nil, nil, err
	}
	r, err := t.openMirror()
	if err != nil {
		return nil, nil, err
	}
	commit, err := r.CommitObject(plumbing.NewHash(rev))
	if err != nil {
		return nil, nil, fmt.Errorf("read commit %.12s: %w", rev, unreadable{err})
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, nil, fmt.Errorf("read commit %.12s: %w", rev, unreadable{err})
	}
	return r, tree, nil
}

func (t *Tree) openMirror() (*git.Repository, error) {
	if t.objects == nil {
		r, err := git.Open(filesystem.NewStorage(osfs.New(t.mirror.Mirror), cache.NewObjectLRU(maxObjects)), nil)
		if err != nil {
			return nil, fmt.Errorf("open the mirror: %w", err)
		}
		t.objects = r
	}
	return t.objects, nil
}

// blob reads a file's content, which a partial mirror may have to fetch.
func (t *Tree) blob(ctx context.Context, r *git.Repository, hash plumbing.Hash) (*object.Blob, error) {
	blob, err := r.BlobObject(hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) && t.mirror.Partial() {
		// Asking git whether the object exists makes git fetch it.
		if err := t.mirror.Run(ctx, gitcmd.Command{Args: []string{"cat-file", "-e", hash.String()}}); err != nil {
			return nil, err
		}
		t.objects = nil
		if r, err = t.openMirror(); err != nil {
			return nil, err
		}
		blob, err = r.BlobObject(hash)
	}
	if err != nil {
		return nil, unreadable{err}
	}
	return blob, nil
}

// find follows a path from a tree, or returns fs.ErrNotExist. The library's own lookup refuses names that git
// allows.
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
		return object.TreeEntry{}, unreadable{err}
	}
	return find(r, tree, rest)
}
