package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"touchstone/relay/server"
)

const (
	pagePrefix = "touchstone-relay-"
	// pageLock is locked in the page's directory for as long as the relay lives.
	pageLock = "lock"
	// pageGrace is how old a directory is that must have its lock: one that another relay is making has none yet.
	pageGrace = time.Minute
)

// pageFile returns where the page keeps its projection of the log: beside an embedded store, otherwise in a new
// directory for temporary files, which only this user can enter. The caller calls remove when the file is closed. What
// relays left that were killed is removed first: as large as the log, it would fill the disk if a relay is killed and
// started again and again.
func (c Config) pageFile() (path string, remove func() error, err error) {
	if path, ok := server.StorePath(c.Store); ok {
		return path + ".page", func() error { return nil }, nil
	}
	removeLeftPages()
	// In a directory that all users share, others could create a file or a link of a name that they can guess.
	dir, err := os.MkdirTemp("", pagePrefix)
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the page's file (TMPDIR says where): %w", err)
	}
	lock := flock.New(filepath.Join(dir, pageLock), flock.SetPermissions(0o600))
	remove = func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) } // Windows removes no open file
	if _, err := lock.TryLock(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("lock the directory of the page's file: %w", err), remove())
	}
	return filepath.Join(dir, "page"), remove, nil
}

// removeLeftPages removes the directories of relays that were killed. What it cannot remove stays: the page does not need it.
func removeLeftPages() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), pagePrefix+"*")) // it fails only for a malformed pattern
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !owned(info) || time.Since(info.ModTime()) < pageGrace {
			continue
		}
		// Without its lock, which something may have removed, it may be that of a living relay.
		lock := filepath.Join(dir, pageLock)
		if _, err := os.Lstat(lock); err != nil {
			continue
		}
		held := flock.New(lock)
		if free, err := held.TryLock(); err == nil && free {
			_ = held.Close()
			_ = os.RemoveAll(dir)
		}
	}
}
