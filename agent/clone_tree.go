package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// side is what of a clone is compared with its base.
type side string

const (
	working   side = "the working tree" // untracked files included, ignored ones left out
	staged    side = "the staged files"
	committed side = "HEAD"
)

// borrowed is a worktree of what a clone holds, in a temporary directory.
type borrowed struct {
	*worktree.Tree
	clone *clone
	// head is HEAD, or a commit made of what is not committed. What merging that into base
	// makes is checked out, base being the commit that the base's name meant.
	head, base string
	branch     string // "HEAD" where none is checked out
	made       bool   // head is a commit of ours
	dir        string
}

// borrow checks out one side of the clone, in a worktree like that of a pull request, whose
// mirror borrows the clone's objects, in a directory of its own below parent; empty is the
// system's for such things. Nothing is written to the clone. The caller closes it.
func (c *clone) borrow(ctx context.Context, parent, base string, of side) (_ *borrowed, err error) {
	b := borrowed{clone: c}
	if b.dir, err = os.MkdirTemp(parent, "touchstone-local-"); err != nil {
		return nil, fmt.Errorf("make a directory for the worktree: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(b.dir))
		}
	}()
	l, err := c.lend(ctx, b.dir, base, of)
	if err != nil {
		return nil, err
	}
	b.head, b.base, b.made = l.request.Head, l.request.Base, l.made
	if b.branch, err = c.line(ctx, "rev-parse", "--abbrev-ref", "HEAD"); err != nil {
		return nil, err
	}
	b.Tree, err = l.store.Acquire(ctx, l.request)
	return &b, unmergeable(err, of, base)
}

// lent is a store of worktrees whose only mirror has its objects in a clone.
type lent struct {
	store *worktree.Store
	// request is for one side of the clone, as merging it into its base makes it. Both commits
	// are there already: nothing is fetched.
	request worktree.Request
	made    bool // request.Head is a commit of ours
}

// lend makes a store in a directory for one side of the clone. Nothing is written to the clone,
// whose git finds from then on what is written to the store's mirror.
func (c *clone) lend(ctx context.Context, dir, base string, of side) (l lent, err error) {
	const repo = "local/clone"
	l.request = worktree.Request{
		Remote: worktree.Remote{URL: "file:///"}, Repo: repo, Number: 1, Role: string(decide.Reviewer),
		HeadRef: "refs/heads/head", BaseRef: "refs/heads/base", Merged: true,
	}
	if l.request.Base, err = c.commit(ctx, base); err != nil {
		return l, err
	}
	shallow, err := c.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "shallow")
	if err != nil {
		return l, err
	}
	l.store = &worktree.Store{Root: dir, Shallow: shallow}
	mirror := filepath.Join(dir, filepath.FromSlash(repo), "mirror.git")
	if err := c.mirror(ctx, mirror); err != nil {
		return l, fmt.Errorf("make a mirror of the clone: %w", err)
	}
	if l.request.Head, l.made, err = c.headOf(ctx, filepath.Join(mirror, "objects"), of); err != nil {
		return l, fmt.Errorf("read %s: %w", of, err)
	}
	return l, nil
}

// unmergeable says what to do where an error is that a side of the clone does not merge.
func unmergeable(err error, of side, base string) error {
	if !errors.Is(err, worktree.ErrUnmergeable) {
		return err
	}
	_, why, _ := strings.Cut(err.Error(), worktree.ErrUnmergeable.Error()+": ")
	return fmt.Errorf("%s cannot be merged into %s: %s; merge %[2]s into your branch first, or compare with where that began: --base $(git "+
		"merge-base %[2]s HEAD)", of, base, why)
}

// mirror makes a bare repository that finds its objects in the clone, and has the clone's git
// find those of that repository.
func (c *clone) mirror(ctx context.Context, mirror string) error {
	objects, err := c.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	c.env = append(c.env, "GIT_OBJECT_DIRECTORY="+filepath.Join(mirror, "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "objects/info/alternates": filepath.ToSlash(objects) + "\n"}
	for name, content := range files {
		name = filepath.Join(mirror, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(mirror, "refs"), 0o700)
}

// headOf is the commit of one side. What is not committed becomes a commit on top of HEAD,
// in the object store at objects, beside which the index is kept that this takes.
func (c *clone) headOf(ctx context.Context, objects string, of side) (head string, made bool, err error) {
	if head, err = c.line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil || of == committed {
		return head, false, err
	}
	tree, err := c.snapshot(ctx, objects, of == staged)
	if err != nil {
		return "", false, err
	}
	if same, err := c.line(ctx, "rev-parse", "--verify", "HEAD^{tree}"); err != nil || same == tree {
		return head, false, err
	}
	c.env = append(c.env, "GIT_AUTHOR_NAME=touchstone", "GIT_AUTHOR_EMAIL=touchstone@localhost", "GIT_COMMITTER_NAME=touchstone",
		"GIT_COMMITTER_EMAIL=touchstone@localhost")
	head, err = c.line(ctx, "commit-tree", "-p", head, "-m", "Not committed yet: "+string(of), tree)
	return head, true, err
}

// maxLocalFile bounds the files that are read of a clone's commits, in bytes.
const maxLocalFile = 8 << 20

// ReadFile is that of [worktree.Tree] for objects that are the clone's.
func (b *borrowed) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	entries, err := b.clone.entries(ctx, rev, name)
	if err == nil && (len(entries) != 1 || entries[0].name != name) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	if e := entries[0]; !strings.HasPrefix(e.mode, "100") {
		return nil, fmt.Errorf("read %q at %.12s: it is no regular file", name, rev)
	}
	if entries[0].size > maxLocalFile {
		return nil, fmt.Errorf("read %q at %.12s: %d bytes: %w", name, rev, entries[0].size, worktree.ErrTooLarge)
	}
	return b.clone.output(ctx, "cat-file", "blob", entries[0].blob)
}

// ReadDir is that of [worktree.Tree] for objects that are the clone's.
func (b *borrowed) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	prefix := strings.TrimPrefix(dir+"/", "./")
	entries, err := b.clone.entries(ctx, rev, prefix)
	if err == nil && len(entries) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimPrefix(e.name, prefix)
		if e.mode == "040000" {
			names[i] += "/"
		}
	}
	return names, nil
}

// entry is what a commit holds under one name.
type entry struct {
	mode, blob, name string
	size             int64
}

// entries lists what a commit holds under a path or, if that ends in a slash, below it.
func (c *clone) entries(ctx context.Context, rev, path string) ([]entry, error) {
	args := []string{"ls-tree", "-z", "--full-tree", "--long", rev}
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := c.output(ctx, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	var list []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") { // "100644 blob 3b18e5…  12\tname"
		meta, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if len(f) != 4 {
			return nil, fmt.Errorf("git ls-tree answered %q", line)
		}
		size, _ := strconv.ParseInt(f[3], 10, 64) // a directory has "-"
		list = append(list, entry{mode: f[0], blob: f[2], size: size, name: name})
	}
	return list, nil
}

// close gives the directory back.
func (b *borrowed) close() error { return errors.Join(b.Release(), os.RemoveAll(b.dir)) }

// defaultBase is the branch that most likely gets the clone's changes.
func (c *clone) defaultBase(ctx context.Context) (string, error) {
	candidates := []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}
	for _, name := range candidates {
		if _, err := c.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("none of %s is in this clone; name the branch to compare with by --base", strings.Join(candidates, ", "))
}
