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
	var hidden strings.Builder
	for _, entry := range entries {
		mark := entry[0]
		if mark != 'S' && (mark < 'a' || mark > 'z') {
			continue
		}
		_, path, _ := strings.Cut(entry, "\t")
		hidden.WriteString(path + "\x00")
	}
	if hidden.Len() == 0 {
		return nil
	}
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} { // each flag ignores the other
		err := t.git.Run(ctx, gitcmd.Command{Env: env, Stdin: strings.NewReader(hidden.String()),
			Args: []string{"update-index", flag, "-z", "--stdin"}})
		if err != nil {
			return err
		}
	}
	return nil
}
