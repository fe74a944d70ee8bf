package worktree

import (
	"context"
	"fmt"
	"io"
	"strings"

	"touchstone/worktree/diff"
)

const (
	// maxFilePatch bounds the patch kept of one file, in bytes.
	maxFilePatch = 1 << 20
	// maxPatch bounds the patches kept of one diff, in bytes.
	maxPatch = 32 << 20
	// maxDiffFiles bounds the number of files in a diff.
	maxDiffFiles = 50_000
)

// Diff is what changed between two commits or trees.
type Diff struct {
	Base, Head string // SHAs; Head is a tree's when the diff is of a working tree
	Files      []FileDiff
	// Truncated says that some file's Patch was left out or cut, so that readers of this diff
	// do not see all of it.
	Truncated bool
}

// FileDiff is what changed in one file.
type FileDiff struct {
	Path    string
	OldPath string // where it was; differs from Path when Status is "renamed"
	// Status is "added", "deleted", "modified", "renamed", "mode-changed" (same
	// content, other permissions) or "type-changed" (for instance file to link).
	Status           string
	OldMode, NewMode string // git's octal modes; "000000" for a file that is not there
	OldBlob, NewBlob string // git's names of the contents; all zeros for a file that is not there
	Added, Deleted   int    // lines, counted also when the patch was cut
	Binary           bool   // git compared it as binary: no hunks
	Submodule        bool   // the commit of a submodule changed
	// Patch is the unified diff as git prints it, headers included; at most 1 MiB
	// of it, and less when the whole diff exceeds 32 MiB. Attributes of the pull
	// request play no part, so it cannot hide its changes with "-diff".
	Patch     []byte
	Truncated bool // the patch goes on
	Hunks     []diff.Hunk
}

// Diff is what merging the pull request changes: from the base that was acquired to the merge
// of the head into it. What happened in the tree since does not count. Its Head is a commit of
// that merge, which is the pull request's own head where that contains the base. Errors:
// ErrUnmergeable.
func (t *Tree) Diff(ctx context.Context) (Diff, error) {
	if err := t.merge(ctx); err != nil {
		return Diff{}, err
	}
	return t.diff(ctx, t.req.Base, t.merged)
}

// DiffFunctions is Diff with the whole functions around each change as context, where git knows
// the language.
func (t *Tree) DiffFunctions(ctx context.Context) (Diff, error) {
	if err := t.merge(ctx); err != nil {
		return Diff{}, err
	}
	return t.diff(ctx, t.req.Base, t.merged, "--function-context")
}

// SinceParted is what each of two commits changes since their merge base, the best of them where
// there are several.
func (t *Tree) SinceParted(ctx context.Context, a, b string) (ofA, ofB Diff, err error) {
	if err := checkSHAs(a, b); err != nil {
		return ofA, ofB, err
	}
	out, err := t.mirror.output(ctx, "merge-base", a, b)
	if err != nil {
		return ofA, ofB, fmt.Errorf("find where %.12s and %.12s parted: %w", a, b, err)
	}
	base := strings.TrimSpace(string(out))
	if ofA, err = t.diff(ctx, base, a); err == nil {
		ofB, err = t.diff(ctx, base, b)
	}
	return ofA, ofB, err
}

// DiffWorking is what the files in the tree, untracked ones included and ignored
// ones left out, differ in from the commit or tree since.
func (t *Tree) DiffWorking(ctx context.Context, since string) (Diff, error) {
	tree, err := t.snapshot(ctx)
	if err != nil {
		return Diff{}, err
	}
	return t.diff(ctx, since, tree)
}

func (t *Tree) changedBetween(ctx context.Context, base, head string) ([]string, error) {
	if err := checkSHAs(base, head); err != nil {
		return nil, err
	}
	out, err := t.mirror.output(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head)
	return splitNames(out), err
}

// diff runs in the mirror and not in the tree: there git reads no .gitattributes.
func (t *Tree) diff(ctx context.Context, base, head string, options ...string) (Diff, error) {
	if err := checkSHAs(base, head); err != nil {
		return Diff{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		args := []string{"diff-tree", "-r", "-z", "-M", "--raw", "--patch",
			"--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=none",
			"--src-prefix=a/", "--dst-prefix=b/"}
		args = append(append(args, options...), "--end-of-options", base, head)
		err := t.mirror.run(ctx, call{stdout: w, args: args})
		w.CloseWithError(err)
		done <- err
	}()
	d, err := parseDiff(r)
	if err != nil {
		stop()
		r.CloseWithError(err)
	}
	if gitErr := <-done; gitErr != nil && err == nil {
		err = gitErr
	}
	if err != nil {
		return Diff{}, fmt.Errorf("diff %.12s..%.12s: %w", base, head, err)
	}
	d.Base, d.Head = base, head
	return d, nil
}
