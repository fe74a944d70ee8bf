package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict/decide"
	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/layout"
)

// Side is the part of a clone that is compared with its base.
type Side string

// The sides.
const (
	Working   Side = "the working tree" // untracked files included, ignored ones excluded
	Staged    Side = "the staged files"
	Committed Side = "HEAD"
)

// Borrowed is a worktree with the content of a clone, in a temporary directory.
type Borrowed struct {
	*worktree.Tree
	Clone *Clone
	// Head is HEAD, or a commit of the uncommitted changes. Checked out is the merge of Head into Base, where
	// Base is the commit that the base's name meant.
	Head, Base string
	Branch     string // "HEAD" if no branch is checked out
	Made       bool   // Head is a commit made by this package
	dir        string
}

// Borrow checks out one side of the clone in a worktree like that of a pull request, whose mirror borrows the
// clone's objects. The worktree is in its own directory below parent; an empty parent means the system's
// directory for temporary files. Borrow writes nothing to the clone. The caller closes the result.
func (c *Clone) Borrow(ctx context.Context, parent, base string, of Side) (_ *Borrowed, err error) {
	b := Borrowed{Clone: c}
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
		return nil, c.incomplete(ctx, err)
	}
	b.Head, b.Base, b.Made = l.request.Head, l.request.Base, l.made
	if b.Branch, err = c.line(ctx, "rev-parse", "--abbrev-ref", "HEAD"); err != nil {
		return nil, err
	}
	b.Tree, err = l.store.Acquire(ctx, l.request)
	return &b, c.incomplete(ctx, unmergeable(err, of, base))
}

// Diff is that of [worktree.Tree].
func (b *Borrowed) Diff(ctx context.Context) (diff.Diff, error) {
	d, err := b.Tree.Diff(ctx)
	return d, b.Clone.incomplete(ctx, err)
}

// incomplete adds advice to an error of reading a partial clone, which may lack content: git would fetch it
// with the user's credentials, which nothing here uses (https://git-scm.com/docs/partial-clone).
func (c *Clone) incomplete(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, worktree.ErrUnmergeable) {
		return err
	}
	if _, whole := c.output(ctx, "config", "--get-regexp", `^(remote\..*\.promisor|extensions\.partialclone)$`); whole != nil {
		return err
	}
	return fmt.Errorf("%w; this clone is partial and may lack what is needed: fetch all of it with `git fetch --refetch --no-filter`", err)
}

// lent is a store of worktrees whose only mirror borrows the objects of a clone.
type lent struct {
	store *worktree.Store
	// request is for one side of the clone, merged into its base. Both commits exist already: nothing is
	// fetched.
	request worktree.Request
	made    bool // request.Head is a commit made by this package
}

// lend creates a store in a directory for one side of the clone. It writes nothing to the clone. From then
// on, the clone's git finds the objects of the store's mirror.
func (c *Clone) lend(ctx context.Context, dir, base string, of Side) (l lent, err error) {
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
	mirror := layout.Of(dir, repo).Mirror()
	if err := c.mirror(ctx, mirror); err != nil {
		return l, fmt.Errorf("make a mirror of the clone: %w", err)
	}
	if l.request.Head, l.made, err = c.headOf(ctx, filepath.Join(mirror, "objects"), of); err != nil {
		return l, fmt.Errorf("read %s: %w", of, err)
	}
	return l, nil
}

// unmergeable adds advice to an error which says that a side of the clone does not merge.
func unmergeable(err error, of Side, base string) error {
	if !errors.Is(err, worktree.ErrUnmergeable) {
		return err
	}
	_, why, _ := strings.Cut(err.Error(), worktree.ErrUnmergeable.Error()+": ")
	return fmt.Errorf("%s cannot be merged into %s: %s; merge %[2]s into your branch first, or compare with the commit where the branch "+
		"began: --base $(git "+
		"merge-base %[2]s HEAD)", of, base, why)
}

// mirror creates a bare repository that finds its objects in the clone, and makes the clone's git find the
// objects of that repository.
func (c *Clone) mirror(ctx context.Context, mirror string) error {
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

// headOf returns the commit of one side. Uncommitted changes become a commit on top of HEAD, in the object
// store at objects; the index for this is kept beside that store.
func (c *Clone) headOf(ctx context.Context, objects string, of Side) (head string, made bool, err error) {
	if head, err = c.line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil || of == Committed {
		return head, false, err
	}
	tree, err := c.snapshot(ctx, objects, of == Staged)
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

// maxLocalFile bounds the files that are read from a clone's commits, in bytes.
const maxLocalFile = 8 << 20

// ReadFile is that of [worktree.Tree] for objects in the clone.
func (b *Borrowed) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	return b.Clone.ReadFile(ctx, rev, name)
}

// ReadFile returns a file of a commit. Errors: fs.ErrNotExist; fs.ErrInvalid for a link, a directory or a submodule;
// worktree.ErrTooLarge.
func (c *Clone) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	entries, err := c.entries(ctx, rev, name)
	if err == nil && (len(entries) != 1 || entries[0].name != name) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	if e := entries[0]; !strings.HasPrefix(e.mode, "100") {
		return nil, fmt.Errorf("read %q at %.12s: it is not a regular file: %w", name, rev, fs.ErrInvalid)
	}
	if entries[0].size > maxLocalFile {
		return nil, fmt.Errorf("read %q at %.12s: %d bytes: %w", name, rev, entries[0].size, worktree.ErrTooLarge)
	}
	content, err := c.output(ctx, "cat-file", "blob", entries[0].blob)
	return content, c.incomplete(ctx, err)
}

// ReadDir is that of [worktree.Tree] for objects in the clone.
func (b *Borrowed) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	return b.Clone.ReadDir(ctx, rev, dir)
}

// ReadDir lists the names in a directory of a commit; "." is the root. Names of directories and submodules
// end in a slash. Errors: fs.ErrNotExist.
func (c *Clone) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	prefix := strings.TrimPrefix(dir+"/", "./")
	entries, err := c.entries(ctx, rev, prefix)
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !strings.HasPrefix(e.name, prefix) }) // a submodule itself
	if err == nil && len(entries) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimPrefix(e.name, prefix)
		if e.mode == "040000" || e.mode == "160000" {
			names[i] += "/"
		}
	}
	return names, nil
}

// entry is an entry of a commit's tree.
type entry struct {
	mode, blob, name string
	size             int64
}

// entries lists the entry of a commit at a path or, if the path ends in a slash, those below it.
func (c *Clone) entries(ctx context.Context, rev, path string) ([]entry, error) {
	args := []string{"ls-tree", "-z", "--full-tree", "--long", rev}
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := c.output(ctx, args...)
	if err != nil || len(out) == 0 {
		return nil, c.incomplete(ctx, err) // the size of a file is not known without its content
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

// Close releases the worktree and deletes its directory.
func (b *Borrowed) Close() error { return errors.Join(b.Release(), os.RemoveAll(b.dir)) }

// Base returns the named branch or commit or, if none was named, the branch into which the clone's changes
// will most likely be merged.
func (c *Clone) Base(ctx context.Context, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	candidates := []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}
	for _, name := range candidates {
		if _, err := c.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("this clone has none of %s; name the branch to compare with in --base", strings.Join(candidates, ", "))
}
