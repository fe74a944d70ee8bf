package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"touchstone/worktree/erase"
	"touchstone/worktree/gitcmd"
	"touchstone/worktree/layout"
	"touchstone/worktree/lazyregexp"
)

// Limits are the bounds within which Collect keeps a store.
type Limits struct {
	// Now is the present time, preferably from a clock that cannot be set ahead; zero means this machine's
	// clock.
	Now time.Time
	// Unused is how long to keep a tree that is not acquired, and how long to keep work that was set aside.
	Unused time.Duration
	// Bytes bounds the total size of the files below Root; 0 means no bound. Trees in use and mirrors always
	// stay.
	Bytes int64
}

// Collected is the outcome of Collect.
type Collected struct {
	// Trees are the deleted trees, as owner/name/12-author.
	Trees []string
	// Bytes is the total size of the files below Root afterwards.
	Bytes int64
}

// maxPacks is how many packs a mirror may have before they are merged into one: each fetch adds a pack, and
// git searches all of them for an object.
const maxPacks = 50

// treeName matches the directory names of trees, which consist of a pull request's number and a role.
var treeName = lazyregexp.New(`^([0-9]+)-([a-z]+)$`)

// Collect deletes what is no longer needed: trees and set-aside work that were not used for long, unfinished
// checkouts, and superfluous packs. While Root exceeds its limit, it also deletes build caches, and then the least recently
// used trees. It first sets aside unpushed work of a tree; trees that git can no longer read are deleted
// without that. It leaves trees in use alone and may run beside anything. If it cannot delete something, it
// goes on with the rest and reports the failure in its error.
func (s *Store) Collect(ctx context.Context, limits Limits) (Collected, error) {
	var done Collected
	root, err := filepath.Abs(s.Root)
	if err != nil {
		return done, fmt.Errorf("worktree root: %w", err)
	}
	homes, err := layout.All(root)
	if err != nil {
		return done, fmt.Errorf("list the mirrors: %w", err)
	}
	if limits.Now.IsZero() {
		limits.Now = time.Now()
	}
	before := limits.Now.Add(-limits.Unused)
	var kept []used
	var failed []error
	var caches []home
	for _, place := range homes {
		h := home{place}
		caches = append(caches, h)
		left, err := s.collect(ctx, h, before, &done)
		if err != nil {
			failed = append(failed, fmt.Errorf("clear up %s: %w", h.Repo(), err))
		}
		kept = append(kept, left...)
	}
	slices.SortFunc(kept, func(a, b used) int { return a.at.Compare(b.at) })
	for {
		if done.Bytes, err = size(root); err != nil {
			failed = append(failed, fmt.Errorf("measure %s: %w", root, err))
		}
		if err != nil || limits.Bytes == 0 || done.Bytes <= limits.Bytes || len(kept)+len(caches) == 0 || ctx.Err() != nil {
			return done, errors.Join(failed...)
		}
		if len(caches) > 0 {
			for _, h := range caches {
				failed = append(failed, h.dropCache())
			}
			caches = nil
			continue
		}
		if err := s.giveUp(ctx, kept[0], &done); err != nil {
			failed = append(failed, fmt.Errorf("make room in %s: %w", root, err))
		}
		kept = kept[1:]
	}
}

// used is a tree and the time when it was last acquired.
type used struct {
	home home
	id   string
	at   time.Time
}

// collect cleans one repository and returns the trees that stay. Among trees of the same age the spare tree
// comes first, so that it is deleted first.
func (s *Store) collect(ctx context.Context, h home, before time.Time, done *Collected) ([]used, error) {
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		return nil, err
	}
	var kept []used
	failed := []error{h.unlockRefs()}
	for _, e := range entries {
		id := e.Name()
		switch {
		case !e.IsDir():
		case strings.HasPrefix(id, broken):
			if at, ok := setAside(id); ok && !at.Before(before) {
				kept = append(kept, used{home: h, id: id, at: at})
			} else if ok {
				failed = append(failed, erase.All(h.Tree(id)))
			}
		case strings.HasPrefix(id, unfinished):
			failed = append(failed, h.dropUnfinished(strings.TrimPrefix(id, unfinished)))
		case id == spareID:
			kept = append(kept, used{home: h, id: id})
		case treeName.MatchString(id):
			u := used{home: h, id: id, at: h.lastUse(id)}
			if !u.at.Before(before) {
				kept = append(kept, u)
			} else {
				failed = append(failed, s.giveUp(ctx, u, done))
			}
		}
	}
	failed = append(failed, h.dropOrphans())
	m := s.repo(h, nil, nil)
	failed = append(failed, m.forgetLeftovers(ctx, before))
	packs, err := fs.Glob(os.DirFS(h.Mirror()), "objects/pack/*.pack")
	if err == nil && len(packs) > maxPacks {
		// Unreferenced objects stay for two weeks: another process may be about to refer to them.
		err = m.Run(ctx, gitcmd.Command{Args: []string{"gc", "--quiet", "--prune=2.weeks.ago"}})
	}
	return kept, errors.Join(append(failed, err)...)
}

// dropCache deletes the build caches, unless one of the repository's trees is in use: a build may be running
// then. The caches are moved away at once and deleted later.
func (h home) dropCache() (err error) {
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		return err
	}
	var held []*gitcmd.Lock
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Unlock())
		}
	}()
	for _, e := range entries {
		if !e.IsDir() || !treeName.MatchString(e.Name()) {
			continue
		}
		l, err := h.lock(e.Name())
		if err != nil {
			if errors.Is(err, ErrBusy) {
				return nil
			}
			return err
		}
		held = append(held, l)
	}
	gone := h.Tree(broken + filepath.Base(h.Caches()) + "-" + timestamp())
	if err := os.Rename(h.Caches(), gone); err != nil {
		return ignoreNotExist(err)
	}
	return erase.All(gone)
}

// dropOrphans deletes the build caches of trees that no longer exist.
func (h home) dropOrphans() error {
	entries, err := os.ReadDir(h.Caches())
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, e := range entries {
		if id := e.Name(); !strings.HasPrefix(id, layout.BaseCache) && !exists(h.Tree(id)) {
			err = errors.Join(err, erase.All(h.Cache(id)))
		}
	}
	return err
}

// lockedLong is longer than git holds the lock of the packed refs, which it does for some milliseconds.
const lockedLong = time.Hour

// unlockRefs deletes the lock of the packed refs if git was killed while it held it. Any tree's user may hold that
// lock, so only its age tells.
func (h home) unlockRefs() error {
	lock := filepath.Join(h.Mirror(), "packed-refs.lock")
	info, err := os.Stat(lock)
	if err != nil || time.Since(info.ModTime()) < lockedLong {
		return ignoreNotExist(err)
	}
	return ignoreNotExist(os.Remove(lock))
}

// dropUnfinished deletes what a killed process left of a checkout of this tree, unless the tree is in use: it may be
// checked out now.
func (h home) dropUnfinished(id string) (err error) {
	l, err := h.lock(id)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	return errors.Join(erase.All(h.Tree(unfinished+id)), os.RemoveAll(h.Admin(unfinished+id)))
}

// giveUp deletes a tree after setting its work aside, unless the tree is in use.
func (s *Store) giveUp(ctx context.Context, u used, done *Collected) (err error) {
	if strings.HasPrefix(u.id, broken) {
		return erase.All(u.home.Tree(u.id))
	}
	l, err := u.home.lock(u.id)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	m := s.repo(u.home, l, nil)
	t := &Tree{home: u.home, id: u.id, mirror: m, git: m.linked(u.home.Tree(u.id), u.home.Admin(u.id)), lock: l}
	if u.id == spareID {
		return t.remove()
	}
	if err := t.quit(ctx); err != nil {
		return err
	}
	if exists(t.git.Tree) {
		err = t.dropRefs(ctx)
	}
	if err != nil && !DiskFault(err) {
		return err
	}
	done.Trees = append(done.Trees, u.home.Repo()+"/"+u.id)
	if gone := t.remove(); gone != nil || err == nil {
		return gone
	}
	return t.dropRefs(ctx) // there is room for it now
}

// forgetLeftovers deletes the refs of work that was set aside before a time. The names of the refs hold the
// time.
func (r repo) forgetLeftovers(ctx context.Context, before time.Time) error {
	out, err := r.Output(ctx, "for-each-ref", "--format=%(refname)", leftoverRefs)
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(out)) {
		if at, ok := setAside(name); ok && at.Before(before) {
			if err := r.Run(ctx, gitcmd.Command{Args: []string{"update-ref", "-d", name}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// use records that a tree is acquired now, as the modification time of its lock file, which has no content.
func (h home) use(id string) error {
	now := time.Now()
	return os.Chtimes(h.LockFile(id), now, now)
}

// lastUse returns when a tree was last acquired.
func (h home) lastUse(id string) time.Time {
	info, err := os.Stat(h.LockFile(id))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// size returns the total size of all files below a directory, in bytes. Files that vanish meanwhile, and
// files in unreadable directories, are not counted.
func size(root string) (total int64, err error) {
	err = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil || e.IsDir() {
			return ignoreNotExist(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreNotExist(err)
		}
		total += info.Size()
		return nil
	})
	return total, err
}
