package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
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
	entries, err := t.listTree(ctx, rev, name)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	switch e := entries[0]; {
	case e.mode != "100644" && e.mode != "100755":
		return nil, fmt.Errorf("read %q at %.12s: it is no regular file", name, rev)
	case e.size > maxBlob:
		return nil, fmt.Errorf("read %q at %.12s: %d bytes: %w", name, rev, e.size, ErrTooLarge)
	default:
		return t.mirror.output(ctx, "cat-file", "blob", e.sha)
	}
}

// ReadDir returns the names in one directory of commit rev, in git's order;
// those of subdirectories end in a slash. dir "." is the root. fs.ErrNotExist
// when rev has no such directory.
func (t *Tree) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: fs.ErrInvalid}
	}
	prefix := ""
	if dir != "." {
		prefix = dir + "/"
	}
	entries, err := t.listTree(ctx, rev, prefix)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 && dir != "." {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: fs.ErrNotExist}
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = path.Base(e.name)
		if e.mode == "040000" {
			names[i] += "/"
		}
	}
	return names, nil
}

// treeEntry is one line of git ls-tree --long.
type treeEntry struct {
	mode, sha, name string
	size            int64 // of a blob, in bytes
}

// listTree asks for one path: an entry's own, or with a trailing slash a
// directory's content, or "" for the root's.
func (t *Tree) listTree(ctx context.Context, rev, name string) ([]treeEntry, error) {
	if err := checkSHAs(rev); err != nil {
		return nil, err
	}
	args := []string{"ls-tree", "-z", "--long", "--full-tree", rev, "--"}
	if name != "" {
		args = append(args, name)
	}
	out, err := t.mirror.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	var entries []treeEntry
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		meta, name, _ := strings.Cut(string(line), "\t")
		f := strings.Fields(meta) // mode, type, SHA, size or "-"
		if len(f) != 4 {
			return nil, fmt.Errorf("git ls-tree printed %q", meta)
		}
		size, _ := strconv.ParseInt(f[3], 10, 64) // "-" of what is no blob counts as 0
		entries = append(entries, treeEntry{mode: f[0], sha: f[2], name: name, size: size})
	}
	return entries, nil
}
