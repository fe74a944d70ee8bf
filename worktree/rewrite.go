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

// Rewrites reports whether a commit differs from its only parent, the commit from, exactly by these new
// contents of files, by path: no other file, mode or name differs. This machine has both commits.
func (t *Tree) Rewrites(ctx context.Context, from, to string, files map[string][]byte) (bool, error) {
	changes, err := t.rewritten(ctx, from, to, files)
	return len(changes) > 0, err
}

// MakesRewritten reports whether the head rewrites the reviewed commit, as [Tree.Rewrites] defines it, and
// merging the head makes the reviewed change plus those contents: the reviewed commit still makes the same
// change, as [Store.Makes] compares them, and the base has touched none of these files. Errors:
// ErrUnmergeable.
func (t *Tree) MakesRewritten(ctx context.Context, reviewed Squash, files map[string][]byte) (bool, error) {
	if err := t.merge(ctx); err != nil {
		return false, err
	}
	if err := checkSHAs(reviewed.Base, reviewed.Head, reviewed.Tree); err != nil {
		return false, nil // the record is unusable
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

// rewritten returns the changes from a commit to the next, if the next one rewrites it; nil otherwise.
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

// hashBlob returns the blob SHA of a content, whether or not git has the blob.
func (r repo) hashBlob(ctx context.Context, content []byte) (string, error) {
	out, err := r.OutputOf(ctx, gitcmd.Command{Stdin: bytes.NewReader(content), Args: []string{"hash-object", "--stdin", "-t", "blob"}})
	if err != nil {
		return "", fmt.Errorf("hash a file: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
