// Package erase deletes directories in which builds have left directories without write permission, as module and test caches
// do. It owns no state and imports nothing of this module, so that agent and worktree can both use it.
package erase

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return unlessGone(err)
		}
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&0o700 == 0o700 {
			return unlessGone(err)
		}
		return root.Chmod(path, info.Mode().Perm()|0o700)
	})
	if err != nil {
		return fmt.Errorf("unlock a directory: %w", err)
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
