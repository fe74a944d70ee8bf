package worktree

import (
	"context"
	"fmt"
	"strings"

	"touchstone/worktree/gitcmd"
)

// TakeBase resolves a conflict of Merge with the merged commit's version of a file, or deletes the file if
// that commit has none. Nothing else in the tree changes.
func (t *Tree) TakeBase(ctx context.Context, path string) error {
	conflicts, err := t.unmerged(ctx)
	if err != nil {
		return err
	}
	s, ok := conflicts[path]
	if !ok {
		return fmt.Errorf("take the base's %q: it has no conflict", path)
	}
	args := [][]string{{"rm", "--quiet", "--force", "--", path}}
	if s[3].sha != "" {
		args = [][]string{{"checkout", "--quiet", "--theirs", "--", path}, {"add", "--", path}}
	}
	for _, a := range args {
		if err := t.git.Run(ctx, gitcmd.Command{Args: a}); err != nil {
			return fmt.Errorf("take the base's %q: %w", path, err)
		}
	}
	return nil
}

// Reopen undoes TakeBase: the conflict is as Merge left it.
func (t *Tree) Reopen(ctx context.Context, path string) error {
	// The index keeps the stages of what was resolved.
	resolved, err := t.stages(ctx, "--resolve-undo")
	if err != nil {
		return err
	}
	side := "--merge"
	switch s, ok := resolved[path]; {
	case !ok:
	case s[2].sha == "":
		side, err = "--theirs", t.unresolve(ctx, path, s)
	case s[3].sha == "":
		side, err = "--ours", t.unresolve(ctx, path, s)
	}
	if err == nil {
		err = t.git.Run(ctx, gitcmd.Command{Args: []string{"checkout", "--quiet", side, "--", path}})
	}
	if err != nil {
		return fmt.Errorf("bring back the conflict in %q: %w", path, err)
	}
	return nil
}

// unresolve puts the stages of a conflict into the index. Git does so itself, but not if one side deleted the
// file.
func (t *Tree) unresolve(ctx context.Context, path string, s stages) error {
	index := fmt.Sprintf("0 %s 0\t%s\x00", strings.Repeat("0", len(t.req.Base)), path)
	for n, side := range s {
		if side.sha != "" {
			index += fmt.Sprintf("%s %s %d\t%s\x00", side.mode, side.sha, n, path)
		}
	}
	return t.git.Run(ctx, gitcmd.Command{Stdin: strings.NewReader(index), Args: []string{"update-index", "-z", "--index-info"}})
}

// Discard restores the tree and its HEAD to a commit, when nothing that a command wrote or committed in the
// tree is needed. Ignored directories stay, where builds keep their dependencies and outputs. Ignored files
// in directories with tracked files are deleted, and so is a .git below any tracked directory.
func (t *Tree) Discard(ctx context.Context, sha string) error {
	if err := checkSHAs(sha); err != nil {
		return err
	}
	for _, args := range [][]string{{"checkout", "--quiet", "--force", "--detach", sha}, {"clean", "-ffdq"}, {"clean", "-ffqX"}} {
		if err := t.overwrite(ctx, args...); err != nil {
			return fmt.Errorf("clean the worktree: %w", err)
		}
	}
	return t.removeNested(ctx)
}
