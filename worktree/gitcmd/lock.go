package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"touchstone/worktree/pause"
)

// lockPoll is the time between two attempts of a waiting lock.
const lockPoll = 20 * time.Millisecond

// ErrBusy means that another process, or another part of this one, holds the lock.
var ErrBusy = errors.New("the worktree is in use")

// Lock is an advisory lock on an open file. It is held as long as any process has that open file. Git
// children inherit it on platforms that allow it, so that a git process that outlives its killed parent still
// counts as a user. (This inheritance is why no lock library is used: they keep the file private.)
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

// WaitLock takes the lock and waits for it until ctx ends.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := TryLock(path)
		if !errors.Is(err, ErrBusy) {
			return l, err
		}
		if !pause.For(ctx, lockPoll) {
			return nil, ctx.Err()
		}
	}
}

// Unlock releases the lock explicitly before closing the file: between fork and exec, any other child of this
// process has a copy of the file, which would hold the lock a little longer.
func (l *Lock) Unlock() error { return errors.Join(unlockFile(l.file), l.file.Close()) }
