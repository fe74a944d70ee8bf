// Package erase deletes directories in which builds have left directories without write permission, as module and test caches
// do. It owns no state and imports nothing of this module, so that agent and worktree can both use it.
package erase

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// All is os.RemoveAll that also deletes the content of directories without write permission.
func All(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := Unlock(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// Unlock gives this user read and write permission in all directories below dir. It follows no link out of
// dir.
func Unlock(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		err = os.Chmod(dir, info.Mode().Perm()|0o700)
	}
	if err != nil {
		return fmt.Errorf("unlock a directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unlock a directory: %w", err)
	}
	defer root.Close() // only read from
	if err := unlock(root, "."); err != nil {
		return fmt.Errorf("unlock a directory: %w", err)
	}
	return nil
}

// unlock unlocks the directories below one that can be read. It does not use package io/fs, which refuses names
// that are not valid UTF-8.
func unlock(root *os.Root, dir string) error {
	file, err := root.Open(dir)
	if err != nil {
		return unlessGone(err)
	}
	entries, err := file.ReadDir(-1)
	if err := errors.Join(unlessGone(err), file.Close()); err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := root.Lstat(path)
		if err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
			err = root.Chmod(path, info.Mode().Perm()|0o700)
		}
		if err == nil && info.IsDir() {
			err = unlock(root, path)
		}
		if err := unlessGone(err); err != nil {
			return err
		}
	}
	return nil
}

// unlessGone is an error about something that still exists.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
