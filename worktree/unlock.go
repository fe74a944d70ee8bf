package worktree

import (
	"context"

	"touchstone/worktree/erase"
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
	if err := erase.Unlock(t.git.Tree); err != nil {
		return err
	}
	return t.git.Run(ctx, gitcmd.Command{Args: args})
}
