package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"touchstone/worktree/layout"
)

// Use is what caches serve, of which each has its own: what verifies a fix must not find what
// the session that made it has written.
type Use string

// The uses.
const (
	ForSession Use = "session"
	ForVerify  Use = "verify"
)

// Caches is the directory for what builds in a worktree download and make. It lies beside the
// worktrees and belongs to that pull request alone.
func Caches(dir string, use Use) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	return filepath.Join(layout.Around(dir).Cache(filepath.Base(dir)), string(use))
}

// BaseCaches is the directory of the caches that SeedCaches copies, for the repository of a
// worktree. Only what builds its base branch may write there.
func BaseCaches(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	return layout.Around(dir).Cache(layout.BaseCache)
}

// SeedCaches begins the caches of a worktree with a copy of those that builds of the base branch
// have filled, where there are none yet and the latter are there. A file system that can share
// the content of copies does. Where it cannot be done, the error says why, and builds are cold.
func SeedCaches(dir string, use Use) error {
	caches, base := Caches(dir, use), BaseCaches(dir)
	if _, err := os.Lstat(caches); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(caches), 0o700); err != nil {
		return fmt.Errorf("make the caches of %s: %w", dir, err)
	}
	part, err := os.MkdirTemp(filepath.Dir(caches), "part-")
	if err != nil {
		return fmt.Errorf("make the caches of %s: %w", dir, err)
	}
	defer os.RemoveAll(part) // if this fails, what is left does no harm
	if err := os.CopyFS(part, os.DirFS(base)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the base was not built yet, or another process is building it anew
		}
		return fmt.Errorf("copy the caches of the base for %s: %w", dir, err)
	}
	if err := os.Rename(part, caches); err != nil {
		return fmt.Errorf("copy the caches of the base for %s: %w", dir, err)
	}
	return nil
}

// maxBaseAge is how long the caches of the base serve: the older they are, the more of what a
// pull request builds they lack.
const maxBaseAge = 7 * 24 * time.Hour

// FillBaseCaches has build fill caches for the base branch of a worktree's repository, unless
// there are some that still serve or another process is filling them. What build leaves in the
// directory that it is given replaces what was there, unless it returns an error.
func FillBaseCaches(dir string, build func(caches string) error) error {
	base := BaseCaches(dir)
	fresh := base + ".new"
	if info, err := os.Stat(base); err == nil && time.Since(info.ModTime()).Abs() < maxBaseAge {
		return nil
	}
	if info, err := os.Stat(fresh); err == nil && time.Since(info.ModTime()).Abs() > maxBaseAge {
		_ = os.RemoveAll(fresh) // of one who was killed; else Mkdir says so
	}
	err := os.MkdirAll(filepath.Dir(base), 0o700)
	if err == nil {
		err = os.Mkdir(fresh, 0o700)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("make the caches of the base: %w", err)
	}
	defer os.RemoveAll(fresh) // renamed, it is not there
	if err := build(fresh); err != nil {
		return err
	}
	now := time.Now()
	if err := errors.Join(os.RemoveAll(base), os.Chtimes(fresh, now, now)); err != nil {
		return fmt.Errorf("replace the caches of the base: %w", err)
	}
	if err := os.Rename(fresh, base); err != nil {
		return fmt.Errorf("replace the caches of the base: %w", err)
	}
	return nil
}
