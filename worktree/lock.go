package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lockPoll is how often a waiting lock looks again.
const lockPoll = 20 * time.Millisecond

// lock is an advisory lock on an open file. It is held for as long as any
// process has that open file: git children inherit it where the platform can, so
// that a git which outlives a killed parent still counts as the tree's user.
// (That inheritance is why no lock library is used: they keep the file private.)
type lock struct{ file *os.File }

// tryLock takes the lock or returns ErrBusy.
func tryLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lock{f}, nil
}

// waitLock takes the lock, waiting for it until ctx ends.
func waitLock(ctx context.Context, path string) (*lock, error) {
	for {
		l, err := tryLock(path)
		if !errors.Is(err, ErrBusy) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// unlock releases explicitly before closing: between fork and exec any other
// child of this process has a copy of the file, which would hold the lock a
// little longer.
func (l *lock) unlock() error { return errors.Join(unlockFile(l.file), l.file.Close()) }

// removeStaleLocks deletes the lock files that a killed git left in the parts
// of the mirror which only the holder of this tree's lock writes.
func (h home) removeStaleLocks(id string) error {
	for _, dir := range []string{h.admin(id), h.refDir(id)} {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look for stale locks: %w", err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".lock") {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return fmt.Errorf("remove a stale lock: %w", err)
				}
			}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
