package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"touchstone/worktree/erase"
	"touchstone/worktree/layout"
)

// Use is what caches are used for. Each use has its own caches: what verifies a fix must not find what the
// session that made the fix has written.
type Use string

// The uses.
const (
	ForSession Use = "session"
	ForVerify  Use = "verify"
)

// Caches is the directory for what builds in a worktree download and make. It is next to the worktrees and
// belongs to one pull request only.
func Caches(dir string, use Use) string {
	dir = absolute(dir)
	return filepath.Join(layout.Around(dir).Cache(filepath.Base(dir)), string(use))
}

// BaseCaches is the directory that SeedCaches copies, for the repository of a worktree. Only builds of the
// base branch may write there.
func BaseCaches(dir string) string {
	return layout.Around(absolute(dir)).Cache(layout.BaseCache)
}

// absolute is the absolute path of a directory, as far as it is known.
func absolute(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		return path
	}
	return dir
}

// SeedCaches starts the caches of a worktree with a copy of those of the base branch, if there are none yet
// and the base has some. If the file system can share the content of copies, the copy shares it. The error
// says why there is no copy; builds then start with empty caches.
func SeedCaches(dir string, use Use) error {
	caches, base := Caches(dir, use), BaseCaches(dir)
	if _, err := os.Lstat(caches); err == nil {
		return nil
	}
	part, err := "", os.MkdirAll(filepath.Dir(caches), 0o700)
	if err == nil {
		part, err = os.MkdirTemp(filepath.Dir(caches), "part-")
	}
	if err != nil {
		return fmt.Errorf("make the caches of %s: %w", dir, err)
	}
	defer erase.All(part) // if this fails, the leftovers do no harm
	err = os.CopyFS(part, os.DirFS(base))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the base was not built yet, or another process is building it now
	}
	if err == nil {
		err = os.Rename(part, caches)
	}
	if err != nil {
		return fmt.Errorf("copy the caches of the base for %s: %w", dir, err)
	}
	return nil
}

// maxBaseAge is how long the caches of the base are used: the older they are, the less they have of what a
// pull request builds.
const maxBaseAge = 7 * 24 * time.Hour

// FillBaseCaches calls build to fill caches for the base branch of a worktree's repository, unless there are
// recent ones or another process is filling them. The content of build's directory replaces the old caches,
// unless build returns an error.
func FillBaseCaches(dir string, build func(caches string) error) error {
	base := BaseCaches(dir)
	fresh := base + ".new"
	if info, err := os.Stat(base); err == nil && time.Since(info.ModTime()).Abs() < maxBaseAge {
		return nil
	}
	// The lock ends with its process, which may be killed as it fills the caches.
	lock, free := flock.New(base+".lock", flock.SetPermissions(0o600)), false
	err := os.MkdirAll(filepath.Dir(base), 0o700)
	if err == nil {
		free, err = lock.TryLock()
	}
	if err == nil && free {
		defer func() { _ = lock.Close() }() // the process's end releases it too
		err = errors.Join(erase.All(fresh), os.Mkdir(fresh, 0o700))
	}
	switch {
	case err != nil:
		return fmt.Errorf("make the caches of the base: %w", err)
	case !free:
		return nil
	}
	defer erase.All(fresh) // does nothing after the rename
	if err := build(fresh); err != nil {
		return err
	}
	now := time.Now()
	if err = errors.Join(erase.All(base), os.Chtimes(fresh, now, now)); err == nil {
		err = os.Rename(fresh, base)
	}
	if err != nil {
		return fmt.Errorf("replace the caches of the base: %w", err)
	}
	return nil
}
