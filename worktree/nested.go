package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"touchstone/worktree/erase"
)

// removeNested removes what git neither reports nor cleans, but would use: a .git below a tracked directory,
// and everything at the path of a submodule in the index, which is never checked out here. The tree matches
// the index, so its directories are not links. A file system that ignores case finds .git in any spelling; on
// others, other spellings mean nothing to git, which cleans them.
func (t *Tree) removeNested(ctx context.Context) error {
	entries, err := t.entries(ctx, nil)
	if err != nil {
		return err
	}
	places := map[string]bool{}
	for _, entry := range entries {
		_, name, _ := strings.Cut(entry, "\t")
		for dir := path.Dir(name); dir != "." && !places[dir+"/.git"]; dir = path.Dir(dir) {
			places[dir+"/.git"] = true
		}
	}
	for name := range submodules(entries) {
		places[name] = true
	}
	for place := range places {
		if err := t.removeBelow(place); err != nil {
			return fmt.Errorf("clean the worktree: %w", err)
		}
	}
	for name := range submodules(entries) {
		// An empty directory, which git leaves for a submodule that is not initialised.
		if err := os.MkdirAll(filepath.Join(t.git.Tree, filepath.FromSlash(name)), 0o755); err != nil {
			return fmt.Errorf("clean the worktree: %w", err)
		}
	}
	return nil
}

// removeBelow removes a path of the tree with everything below it, if it exists.
func (t *Tree) removeBelow(place string) error {
	place = filepath.Join(t.git.Tree, filepath.FromSlash(place))
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return erase.All(place)
}
