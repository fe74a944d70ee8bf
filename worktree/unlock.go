package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"touchstone/worktree/gitcmd"
)

// overwrite runs a git command that overwrites or deletes files of the tree. If directories without write
// permission prevent that, it unlocks them and runs the command again: module and test caches leave such
// directories.
func (t *Tree) overwrite(ctx context.Context, args ...string) error {
	err := t.git.Run(ctx, gitcmd.Command{Args: args})
	if !gitcmd.Says(err, "Permission denied") {
		return err
	}
	if err := unlock(t.git.Tree); err != nil {
		return err
	}
	return t.git.Run(ctx, gitcmd.Command{Args: args})
}

// removeAll is os.RemoveAll that also deletes the content of directories without write permission.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := unlock(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// unlock gives this user read and write permission in all directories below dir. It follows no link out of
// dir.
func unlock(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("unlock a worktree: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unlock a worktree: %w", err)
	}
	defer root.Close() // only read from
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return ignoreNotExist(err)
		}
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&0o700 == 0o700 {
			return ignoreNotExist(err)
		}
		return root.Chmod(path, info.Mode().Perm()|0o700)
	})
	if err != nil {
		return fmt.Errorf("unlock a worktree: %w", err)
	}
	return nil
}
