package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"touchstone/worktree/diff"
	"touchstone/worktree/gitcmd"
)

// Diff returns what merging the pull request changes: from the acquired base to the merge of the head into
// it. Later changes in the tree do not count. Its Head is a commit of that merge, or the pull request's own
// head if that contains the base. Errors: ErrUnmergeable.
func (t *Tree) Diff(ctx context.Context) (diff.Diff, error) {
	if err := t.merge(ctx); err != nil {
		return diff.Diff{}, err
	}
	return t.mirror.diff(ctx, t.req.Base, t.merged)
}

// DiffFunctions is Diff with the whole function around each change as context, for languages that git knows.
func (t *Tree) DiffFunctions(ctx context.Context) (diff.Diff, error) {
	if err := t.merge(ctx); err != nil {
		return diff.Diff{}, err
	}
	return t.mirror.diff(ctx, t.req.Base, t.merged, "--function-context")
}

// SinceParted returns what each of two commits changes since their merge base. If there are several merge
// bases, git chooses the best.
func (t *Tree) SinceParted(ctx context.Context, a, b string) (ofA, ofB diff.Diff, err error) {
	if err := checkSHAs(a, b); err != nil {
		return ofA, ofB, err
	}
	out, err := t.mirror.Output(ctx, "merge-base", a, b)
	if err != nil {
		return ofA, ofB, fmt.Errorf("find the merge base of %.12s and %.12s: %w", a, b, err)
	}
	base := strings.TrimSpace(string(out))
	if ofA, err = t.mirror.diff(ctx, base, a); err == nil {
		ofB, err = t.mirror.diff(ctx, base, b)
	}
	return ofA, ofB, err
}

// DiffSnapshot returns the difference between the commit or tree since and a Snapshot.
func (t *Tree) DiffSnapshot(ctx context.Context, since, snapshot string) (diff.Diff, error) {
	return t.mirror.diff(ctx, since, snapshot)
}

func (t *Tree) changedBetween(ctx context.Context, base, head string) ([]string, error) {
	if err := checkSHAs(base, head); err != nil {
		return nil, err
	}
	out, err := t.mirror.Output(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head)
	return splitNames(out), err
}

// diff is for a mirror and not for a tree, because git reads no .gitattributes there.
func (r repo) diff(ctx context.Context, base, head string, options ...string) (diff.Diff, error) {
	if err := checkSHAs(base, head); err != nil {
		return diff.Diff{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		args := []string{"diff-tree", "-r", "-z", "-M", "--raw", "--patch",
			"--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=none",
			"--src-prefix=a/", "--dst-prefix=b/"}
		args = append(append(args, options...), "--end-of-options", base, head)
		err := r.Run(ctx, gitcmd.Command{Stdout: w, Args: args})
		w.CloseWithError(err)
		done <- err
	}()
	d, err := diff.Parse(out)
	if errors.Is(err, diff.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if err != nil {
		stop()
		out.CloseWithError(err)
	}
	if gitErr := <-done; gitErr != nil && err == nil {
		err = gitErr
	}
	if err != nil {
		return diff.Diff{}, fmt.Errorf("diff %.12s..%.12s: %w", base, head, err)
	}
	d.Base, d.Head = base, head
	return d, nil
}
