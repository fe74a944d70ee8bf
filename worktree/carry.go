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
)

// PatchID names what the pull request changes, whatever it is based on: merging the
// base into it leaves the id as it is, as long as the base did not touch the lines
// around the change. Unlike git's own patch-id it counts white space, file modes and
// the contents of binary files, because two changes with one id are taken for the
// same change.
func (t *Tree) PatchID(ctx context.Context) (string, error) {
	sum := sha256.New()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := hashPatch(sum, r)
		r.CloseWithError(err)
		done <- err
	}()
	err := t.mirror.run(ctx, call{stdout: w, args: []string{"diff-tree", "-r", "-p", "--no-renames",
		"--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=none",
		"--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", t.mergeBase, t.req.Head}})
	w.CloseWithError(err)
	if err := errors.Join(err, <-done); err != nil {
		return "", fmt.Errorf("hash the change: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// hashPatch feeds a patch to sum without what a merge of the base changes in it: the
// lines' numbers, the text behind them, and the names of text files' blobs. Lines of
// files cannot be taken for headers, since each begins with its sign.
func hashPatch(sum hash.Hash, patch io.Reader) error {
	lines := bufio.NewReader(patch)
	var index []byte
	for {
		// A line longer than the buffer comes in pieces, of which only the first can
		// be a header.
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

// Contains reports whether the head that was acquired contains a commit. It does not
// contain one that this machine does not have.
func (t *Tree) Contains(ctx context.Context, sha string) (bool, error) {
	if err := checkSHAs(sha); err != nil {
		return false, err
	}
	return t.mirror.contains(ctx, t.req.Head, sha)
}

// OnlyMergedBase reports whether the head is exactly what git makes of merging the
// base into the commit since, without a conflict and without a line of anybody's own.
// It is about the files: a head that was rebased or squashed to the same is one, too. It
// is false where this machine does not have that commit.
func (t *Tree) OnlyMergedBase(ctx context.Context, since string) (bool, error) {
	if err := checkSHAs(since); err != nil {
		return false, err
	}
	if _, err := t.mirror.commonAncestor(ctx, since, t.req.Base); errors.Is(err, errMissing) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	merged, err := t.mirror.line(ctx, "merge-tree", "--write-tree", "--no-messages", "--end-of-options", since, t.req.Base)
	if exitCode(err) == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("merge the base into %.12s: %w", since, err)
	}
	tree, err := t.mirror.line(ctx, "rev-parse", "--verify", "--end-of-options", t.req.Head+"^{tree}")
	if err != nil {
		return false, err
	}
	return merged == tree, nil
}
