package worktree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"touchstone/worktree/gitcmd"
)

// PatchID identifies what merging the pull request changes, independent of the base: it stays the same when
// the base moves on without touching the lines around the change. Unlike git's own patch-id it includes white
// space, file modes and the contents of binary files, because two changes with one id are treated as the same
// change.
func (t *Tree) PatchID(ctx context.Context) (string, error) {
	if err := t.merge(ctx); err != nil {
		return "", err
	}
	return t.mirror.patchID(ctx, t.squash)
}

func (r repo) patchID(ctx context.Context, s Squash) (string, error) {
	sum := sha256.New()
	in, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := hashPatch(sum, in)
		in.CloseWithError(err)
		done <- err
	}()
	err := r.Run(ctx, gitcmd.Command{Stdout: w, Args: []string{"diff-tree", "-r", "-p", "--no-renames",
		"--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=none",
		"--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", s.Base, s.Tree}})
	w.CloseWithError(err)
	if err := errors.Join(err, <-done); err != nil {
		return "", fmt.Errorf("hash the change: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// hashPatch adds a patch to sum without the parts that a merge of the base changes: line numbers, the text
// after them, and the blob names of text files. Lines of files cannot be mistaken for headers, since each
// begins with its sign. Package diff is no help here: it leaves out the headers that the sum needs.
func hashPatch(sum hash.Hash, patch io.Reader) error {
	lines := bufio.NewReader(patch)
	var index []byte
	for {
		// A line longer than the buffer arrives in pieces; only the first piece can be a header.
		line, err := lines.ReadSlice('\n')
		switch {
		case bytes.HasPrefix(line, []byte("index ")):
			index = bytes.Clone(line)
		case bytes.HasPrefix(line, []byte("Binary files ")):
			sum.Write(index)
			sum.Write(line)
		case bytes.HasPrefix(line, []byte("@@ ")):
			io.WriteString(sum, "@@\n")
		default:
			sum.Write(line)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = lines.ReadSlice('\n')
			sum.Write(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Makes reports whether merging the pull request makes the reviewed change; see [Store.Makes]. Errors:
// ErrUnmergeable.
func (t *Tree) Makes(ctx context.Context, reviewed Squash) (bool, error) {
	if err := t.merge(ctx); err != nil {
		return false, err
	}
	if err := checkSHAs(reviewed.Base, reviewed.Head, reviewed.Tree); err != nil {
		return false, nil // the record is unusable
	}
	return t.mirror.sameChange(ctx, reviewed, t.squash)
}

// Contains reports whether the acquired head contains a commit. It returns false for a commit that this
// machine does not have.
func (t *Tree) Contains(ctx context.Context, sha string) (bool, error) {
	if err := checkSHAs(sha); err != nil {
		return false, err
	}
	return t.mirror.contains(ctx, t.req.Head, sha)
}

// OnlyMergedBase reports whether the head has exactly the files that git produces by merging the base into
// the commit since, without a conflict and without any other change. Only the files are compared: a head that
// was rebased or squashed to the same files counts too. It returns false if this machine does not have the
// commit since.
func (t *Tree) OnlyMergedBase(ctx context.Context, since string) (bool, error) {
	if err := checkSHAs(since); err != nil {
		return false, err
	}
	merged, err := t.mirror.squash(ctx, t.req.Base, since)
	if errors.Is(err, errMissing) || errors.Is(err, ErrUnmergeable) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("merge the base into %.12s: %w", since, err)
	}
	met, err := t.meet(ctx)
	return err == nil && merged.Tree == met.tree, err
}
