package worktree

import (
	"context"
	"strings"

	"touchstone/worktree/gitcmd"
)

// reveal clears the index flags that hide files from git. A session that can write the index may have marked
// files as not to be checked: their changes would be neither committed nor set aside, and the tree's next
// user would find them. entries are those of ls-files -v --stage -z. See
// https://git-scm.com/docs/git-update-index.
func (t *Tree) reveal(ctx context.Context, env, entries []string) error {
	var hidden []string
	for _, entry := range entries {
		mark := entry[0]
		if mark != 'S' && (mark < 'a' || mark > 'z') {
			continue
		}
		_, path, _ := strings.Cut(entry, "\t")
		hidden = append(hidden, path)
	}
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} { // each flag ignores the other
		if err := t.mark(ctx, env, flag, hidden); err != nil {
			return err
		}
	}
	return nil
}

// mark sets a flag of some entries of the index.
func (t *Tree) mark(ctx context.Context, env []string, flag string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	return t.git.Run(ctx, gitcmd.Command{Env: env, Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
		Args: []string{"update-index", flag, "-z", "--stdin"}})
}
