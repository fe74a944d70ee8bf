package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"touchstone/worktree/gitcmd"
)

// Rewrites reports whether a commit is another one, its only parent, with these contents of files,
// by path, in the place of what they held, and with no other difference: no other file, mode or
// name. Either commit is one that this machine has.
func (t *Tree) Rewrites(ctx context.Context, from, to string, files map[string][]byte) (bool, error) {
	changes, err := t.rewritten(ctx, from, to, files)
	return len(changes) > 0, err
}

// MakesRewritten reports whether the head rewrites what was reviewed, as [Tree.Rewrites] has it, and
// merging it makes the change that was reviewed and those contents: what was reviewed still makes
// the same change, as [Store.Makes] compares them, and the base has touched none of these files.
// Errors: ErrUnmergeable.
func (t *Tree) MakesRewritten(ctx context.Context, reviewed Squash, files map[string][]byte) (bool, error) {
	if err := t.merge(ctx); err != nil {
		return false, err
	}
	if err := checkSHAs(reviewed.Base, reviewed.Head, reviewed.Tree); err != nil {
		return false, nil // a record of nothing
	}
	changes, err := t.rewritten(ctx, reviewed.Head, t.req.Head, files)
	if err != nil || len(changes) == 0 {
		return false, err
	}
	before, err := t.mirror.squash(ctx, t.req.Base, reviewed.Head)
	if errors.Is(err, ErrUnmergeable) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if same, err := t.mirror.sameChange(ctx, reviewed, before); err != nil || !same {
		return false, err
	}
	merged, err := t.mirror.changes(ctx, Squash{Base: before.Tree, Tree: t.squash.Tree})
	return err == nil && maps.Equal(merged, changes), err
}

// rewritten are the changes from a commit to the next, if that rewrites it; nil otherwise.
func (t *Tree) rewritten(ctx context.Context, from, to string, files map[string][]byte) (map[string]blobs, error) {
	if err := checkSHAs(from, to); err != nil {
		return nil, err
	}
	parents, err := t.mirror.Output(ctx, "rev-parse", to+"^@")
	if err != nil || strings.TrimSpace(string(parents)) != from {
		return nil, err
	}
	changes, err := t.mirror.changes(ctx, Squash{Base: from, Tree: to})
	if err != nil || len(changes) != len(files) {
		return nil, err
	}
	for path, is := range changes {
		content, wanted := files[path]
		if !wanted || is.oldMode != is.newMode || !strings.HasPrefix(is.newMode, "100") {
			return nil, nil
		}
		if blob, err := t.mirror.hashBlob(ctx, content); err != nil || blob != is.new {
			return nil, err
		}
	}
	return changes, nil
}

// hashBlob is the SHA of a content, whether or not git has it.
func (r repo) hashBlob(ctx context.Context, content []byte) (string, error) {
	out, err := r.OutputOf(ctx, gitcmd.Command{Stdin: bytes.NewReader(content), Args: []string{"hash-object", "--stdin", "-t", "blob"}})
	if err != nil {
		return "", fmt.Errorf("hash a file: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
