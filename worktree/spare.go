package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"touchstone/worktree/erase"
	"touchstone/worktree/gitcmd"
)

// spareID names the tree that waits for the next pull request. Writing thousands of files takes longer than
// anything else here. Moving a tree that has them already, and changing only the differences, takes a tenth
// of that time.
const spareID = "spare"

// unfinished is the prefix of the names under which trees are checked out.
const unfinished = "new-"

// settleTime is how far a spare tree's index is dated ahead. Git compares whole seconds, so one second is the
// least that separates the index from the files.
const settleTime = time.Second

// Prepare makes the first Acquire of a pull request quick: it creates the repository's mirror from a branch
// such as refs/heads/main, or "HEAD" for the remote's default branch, and keeps one spare tree checked out.
// It does nothing if both exist.
func (s *Store) Prepare(ctx context.Context, remote Remote, repo, branch string) (err error) {
	h, err := s.home(repo)
	if err != nil {
		return err
	}
	if branch != "HEAD" {
		err = validateRef(branch)
	}
	if err := errors.Join(err, remote.Validate(), s.CheckGit(ctx)); err != nil {
		return err
	}
	l, err := h.lock(spareID)
	if errors.Is(err, ErrBusy) {
		return nil // another process is preparing
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	m := s.repo(h, l, &remote)
	ref := mirrorBase
	switch {
	case !exists(h.Mirror()):
		err = s.createMirror(ctx, h, remote, branch)
	case exists(h.Tree(spareID)) && exists(h.Admin(spareID)):
		return nil
	default:
		ref = pullRefs + spareID + "/base"
		if err = h.removeStaleLocks(spareID); err == nil {
			err = m.fetch(ctx, remote, "+"+branch+":"+ref)
		}
	}
	if err != nil {
		return fmt.Errorf("prepare %s: %w", repo, err)
	}
	tip, err := m.Line(ctx, "rev-parse", "--verify", ref)
	if err == nil {
		err = m.build(ctx, h, spareID, tip)
	}
	if err != nil {
		return fmt.Errorf("prepare %s: %w", repo, err)
	}
	return h.settle(spareID)
}

// settle sets the time of an untouched tree's index after that of its files. Git rereads every file whose
// time is not before the index's, and most files of a fresh checkout are like that: this saves the next
// Acquire most of its time. See https://git-scm.com/docs/racy-git.
func (h home) settle(id string) error {
	later := time.Now().Add(settleTime)
	return os.Chtimes(filepath.Join(h.Admin(id), "index"), later, later)
}

// settled reports whether the index's time has passed. Before that, an edited file in the tree could have a
// time that makes it look older than the index.
func (h home) settled(id string) bool {
	info, err := os.Stat(filepath.Join(h.Admin(id), "index"))
	return err == nil && info.ModTime().Before(time.Now())
}

// build checks out a commit as the tree id. It works under a temporary name, so that a tree with its final
// name is complete.
//
// It does not use git worktree add, which leaves a HEAD that points nowhere for a moment: a fetch for another
// pull request in that moment fails.
func (r repo) build(ctx context.Context, h home, id, commit string) error {
	tmp := unfinished + id
	tree, admin := h.Tree(tmp), h.Admin(tmp)
	if err := errors.Join(erase.All(tree), os.RemoveAll(admin)); err != nil {
		return fmt.Errorf("remove an unfinished worktree: %w", err)
	}
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return fmt.Errorf("make a worktree: %w", err)
	}
	for _, f := range []struct{ path, content string }{
		{filepath.Join(admin, "HEAD"), commit + "\n"},
		{filepath.Join(admin, "commondir"), "../..\n"},
		// Last, since this file makes git see the worktree.
		{filepath.Join(admin, "gitdir"), filepath.ToSlash(filepath.Join(tree, ".git")) + "\n"},
	} {
		if err := writeFile(f.path, f.content); err != nil {
			return fmt.Errorf("make a worktree: %w", err)
		}
	}
	if err := r.linked(tree, admin).Run(ctx, gitcmd.Command{Args: []string{"reset", "--quiet", "--hard"}}); err != nil {
		return err
	}
	return h.rename(tmp, id)
}

// rename moves a tree and its administrative directory to another id. The administrative directory moves
// first: one without a tree is known to be garbage.
func (h home) rename(from, to string) error {
	if err := os.RemoveAll(h.Admin(to)); err != nil {
		return err
	}
	if err := os.Rename(h.Admin(from), h.Admin(to)); err != nil {
		return fmt.Errorf("name the worktree: %w", err)
	}
	if err := os.Rename(h.Tree(from), h.Tree(to)); err != nil {
		return fmt.Errorf("name the worktree: %w", err)
	}
	// Each file points at the other; see gitrepository-layout.
	link := filepath.Join(h.Tree(to), ".git")
	return errors.Join(
		writeFile(filepath.Join(h.Admin(to), "gitdir"), filepath.ToSlash(link)+"\n"),
		writeFile(link, gitFile(h.Admin(to))))
}

// takeSpare turns the spare tree into this one, if there is an unlocked spare tree.
func (t *Tree) takeSpare(context.Context, string) (_ bool, err error) {
	if !exists(t.home.Tree(spareID)) {
		return false, nil
	}
	l, err := t.home.lock(spareID)
	if errors.Is(err, ErrBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if !exists(t.home.Tree(spareID)) || !t.home.settled(spareID) {
		return false, nil
	}
	if err := t.home.removeStaleLocks(spareID); err != nil {
		return false, err
	}
	return true, t.home.rename(spareID, t.id)
}

// retire gives up the tree: it becomes the spare tree or, if there is a spare tree already, is deleted.
func (t *Tree) retire(ctx context.Context) error {
	if err := t.quit(ctx); err != nil || !exists(t.git.Tree) {
		return err
	}
	if err := t.dropRefs(ctx); err != nil {
		return err
	}
	return t.giveSpare()
}

// quit sets the tree's work aside and deletes its build caches. A tree that git cannot work with is moved aside
// whole, but not because of the disk: that would free no space, and its commits would have no name any more.
func (t *Tree) quit(ctx context.Context) error {
	if err := t.home.removeStaleLocks(t.id); err != nil {
		return err
	}
	if err := t.empty(ctx); err != nil {
		if ctx.Err() != nil || DiskFault(err) {
			return cmp.Or(ctx.Err(), err)
		}
		return t.moveAside()
	}
	// Its build caches must not reach another pull request.
	return erase.All(t.home.Cache(t.id))
}

// dropRefs deletes the refs of what the tree was acquired for.
func (t *Tree) dropRefs(ctx context.Context) error {
	for _, name := range []string{"head", "base", "merge"} {
		if err := t.mirror.Run(ctx, gitcmd.Command{Args: []string{"update-ref", "-d", pullRefs + t.id + "/" + name}}); err != nil {
			return err
		}
	}
	return nil
}

// empty sets aside the work that exists only in this tree.
func (t *Tree) empty(ctx context.Context) error {
	if !t.sound() {
		return fmt.Errorf("git cannot read the worktree %s", t.id)
	}
	at, err := t.Head(ctx)
	if err != nil {
		return err
	}
	if err := t.keepCommits(ctx, ""); err != nil {
		return err
	}
	return t.reset(ctx, at)
}

func (t *Tree) giveSpare() (err error) {
	l, err := t.home.lock(spareID)
	if err == nil {
		defer func() { err = errors.Join(err, l.Unlock()) }()
		if !exists(t.home.Tree(spareID)) {
			return t.home.rename(t.id, spareID)
		}
	} else if !errors.Is(err, ErrBusy) {
		return err
	}
	return t.remove()
}

// remove deletes the tree, and then its administrative directory, which without a tree is known to be
// garbage.
func (t *Tree) remove() error {
	return errors.Join(erase.All(t.git.Tree), os.RemoveAll(t.git.Dir))
}
