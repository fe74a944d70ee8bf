package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// lockPoll is how often a waiting lock looks again.
const lockPoll = 20 * time.Millisecond

// ErrBusy means that another process, or another part of this one, holds the lock.
var ErrBusy = errors.New("the worktree is in use")

// Lock is an advisory lock on an open file. It is held for as long as any
// process has that open file: git children inherit it where the platform can, so
// that a git which outlives a killed parent still counts as its user.
// (That inheritance is why no lock library is used: they keep the file private.)
type Lock struct{ file *os.File }

// TryLock takes the lock or returns ErrBusy.
func TryLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// WaitLock takes the lock, waiting for it until ctx ends.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := TryLock(path)
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

// Unlock releases explicitly before closing: between fork and exec any other
// child of this process has a copy of the file, which would hold the lock a
// little longer.
func (l *Lock) Unlock() error { return errors.Join(unlockFile(l.file), l.file.Close()) }
