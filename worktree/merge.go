package worktree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/worktree/gitcmd"
)

// MergeResult is the outcome of a merge. At most one of UpToDate, Commit and Conflicts is set.
type MergeResult struct {
	UpToDate bool   // HEAD already contains the commit
	Commit   string // SHA of the merge commit
	// Conflicts are the paths that git could not merge. Each text file contains both sides and their base
	// between conflict markers; Commit concludes the merge.
	Conflicts []string
	// Unmarked are the conflicts without markers, because one side deleted the file or git cannot write
	// markers. Undecided are the unmarked conflicts that are not text: binary files, links, submodules. Only
	// a person can say which side is right.
	Unmarked, Undecided []string
	// Tree is the SHA of the tree that git made of the merge if there are Conflicts: the merged files, and
	// the files with markers. It is empty if a submodule is in conflict.
	Tree string
}

// Merge merges commit sha into HEAD, always as a merge commit. The tree must have no uncommitted changes.
func (t *Tree) Merge(ctx context.Context, sha, message string, id Identity) (MergeResult, error) {
	if err := errors.Join(checkSHAs(sha), checkMessage(message), id.validate()); err != nil {
		return MergeResult{}, err
	}
	before, err := t.Head(ctx)
	if err != nil {
		return MergeResult{}, fmt.Errorf("merge %.12s: %w", sha, err)
	}
	if sha == t.req.Base && before == t.req.Head {
		if met, err := t.meet(ctx); err == nil && slices.Equal(met.bases, []string{sha}) {
			return MergeResult{UpToDate: true}, nil
		}
	}
	merge := func() error {
		return t.git.Run(ctx, gitcmd.Command{Env: id.environ(), Args: []string{"merge", "--quiet", "--no-ff", "--no-edit", "--no-verify",
			"--no-gpg-sign", "--no-autostash", "--no-stat", "--cleanup=verbatim", "-m", message, sha}})
	}
	if err = merge(); gitcmd.Says(err, "would be overwritten by merge") {
		err = t.withoutConverted(ctx, err, merge)
	}
	if err == nil {
		commit, err := t.Head(ctx)
		if commit == before { // git makes no commit if HEAD contains sha already
			return MergeResult{UpToDate: true}, err
		}
		return MergeResult{Commit: commit}, err
	}
	conflicts, listErr := t.unmerged(ctx)
	if listErr != nil || len(conflicts) == 0 {
		return MergeResult{}, errors.Join(fmt.Errorf("merge %.12s: %w", sha, err), listErr)
	}
	return t.conflicted(ctx, conflicts)
}

// conflicted returns the result of a merge that left these paths unmerged.
func (t *Tree) conflicted(ctx context.Context, conflicts map[string]stages) (MergeResult, error) {
	result := MergeResult{Conflicts: slices.Sorted(maps.Keys(conflicts))}
	t.unmarked = map[string]bool{}
	submodule := false
	for _, path := range result.Conflicts {
		marked, err := t.hasMarkers(path)
		text := true
		if err == nil && !marked {
			text, err = t.isText(path)
			result.Unmarked = append(result.Unmarked, path)
			t.unmarked[path] = true
		}
		if err != nil {
			return MergeResult{}, fmt.Errorf("look at the conflict in %q: %w", path, err)
		}
		if !text {
			result.Undecided = append(result.Undecided, path)
		}
		submodule = submodule || conflicts[path][2].mode == "160000" || conflicts[path][3].mode == "160000"
	}
	if submodule {
		return result, nil // git makes no tree of a conflict in a submodule
	}
	var err error
	if result.Tree, err = t.Snapshot(ctx); err != nil {
		return MergeResult{}, fmt.Errorf("keep what git made of the merge: %w", err)
	}
	return result, nil
}

// isText reports whether a path of the tree is a file without a NUL byte, by which git recognises binary
// files. A path that does not exist counts as text.
func (t *Tree) isText(path string) (text bool, err error) {
	there, err := t.readFrom(path, func(f io.Reader) error {
		head, err := io.ReadAll(io.LimitReader(f, 8000))
		text = !bytes.Contains(head, []byte{0})
		return err
	})
	return text || !there, err
}

// readFrom reads a file of the tree, and reports whether the path exists. It reads only regular files.
// Directories and links on the way are not followed out of the tree.
func (t *Tree) readFrom(path string, read func(io.Reader) error) (there bool, err error) {
	root, err := os.OpenRoot(t.git.Tree)
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Lstat(filepath.FromSlash(path))
	if err == nil && !info.Mode().IsRegular() {
		return true, nil
	}
	var f *os.File
	if err == nil {
		f, err = root.Open(filepath.FromSlash(path))
	}
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist), ignoreNotExist(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return true, read(f)
}

// stages are the blobs of an unmerged path, indexed by stage: 1 is the base, 2 ours, 3 theirs.
type stages [4]struct{ mode, sha string }

// unmerged returns the index's unmerged entries, by path.
func (t *Tree) unmerged(ctx context.Context) (map[string]stages, error) {
	return t.stages(ctx, "--unmerged")
}

// stages returns the stages of the paths that git ls-files lists with an option.
func (t *Tree) stages(ctx context.Context, option string) (map[string]stages, error) {
	out, err := t.git.Output(ctx, "ls-files", option, "-z", "--full-name")
	if err != nil {
		return nil, err
	}
	found := map[string]stages{}
	for _, entry := range splitNames(out) {
		meta, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(meta) // mode, SHA, stage
		if len(f) != 3 || len(f[2]) != 1 || f[2][0] < '1' || f[2][0] > '3' {
			return nil, fmt.Errorf("git ls-files printed %q", meta)
		}
		s := found[path]
		s[f[2][0]-'0'] = struct{ mode, sha string }{f[0], f[1]}
		found[path] = s
	}
	return found, nil
}

// ConflictMarkers returns the paths that are not merged yet, sorted, given a Snapshot of the current tree.
// These are changed files that contain a line of conflict markers; and conflicts without markers (binary
// files, one side deleted, links) as long as the tree holds exactly what Merge put there and git add was not
// run on the path.
func (t *Tree) ConflictMarkers(ctx context.Context, snapshot string) ([]string, error) {
	changed, err := t.changedByHand(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for _, path := range changed {
		has, err := t.hasMarkers(path)
		if err != nil {
			return nil, err
		}
		if has {
			left[path] = true
		}
	}
	if len(t.unmarked) == 0 {
		return slices.Sorted(maps.Keys(left)), nil
	}
	conflicts, err := t.unmerged(ctx)
	if err != nil {
		return nil, err
	}
	for path, s := range conflicts {
		if !t.unmarked[path] {
			continue // its markers are gone; one whole side may have been taken
		}
		untouched, err := t.untouched(ctx, path, s)
		if err != nil {
			return nil, err
		}
		if untouched {
			left[path] = true
		}
	}
	return slices.Sorted(maps.Keys(left)), nil
}

// Merging returns the commit whose merge into HEAD the next Commit concludes, or "". What runs in the tree may have ended
// the merge that Merge began, or begun another.
func (t *Tree) Merging() (string, error) {
	merging, err := os.ReadFile(filepath.Join(t.git.Dir, "MERGE_HEAD"))
	return strings.TrimSpace(string(merging)), ignoreNotExist(err)
}

// changedByHand returns the paths of a snapshot that differ from HEAD and, during a merge, from the merged
// commit as well: a test file of either side may contain markers on purpose.
func (t *Tree) changedByHand(ctx context.Context, tree string) ([]string, error) {
	head, err := t.Head(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := t.changedBetween(ctx, head, tree)
	if err != nil {
		return nil, err
	}
	merging, err := t.Merging()
	if err != nil || merging == "" {
		return paths, err
	}
	others, err := t.changedBetween(ctx, merging, tree)
	if err != nil {
		return nil, err
	}
	other := map[string]bool{}
	for _, path := range others {
		other[path] = true
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !other[p] }), nil
}

// hasMarkers reports whether a file of the tree has a line of conflict markers.
func (t *Tree) hasMarkers(path string) (found bool, err error) {
	_, err = t.readFrom(path, func(f io.Reader) error {
		in := bufio.NewReaderSize(f, 64<<10)
		for start := true; ; {
			chunk, err := in.ReadSlice('\n')
			if start && isMarker(chunk) {
				found = true
				return nil
			}
			start = err == nil
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return err
			}
		}
	})
	return found, err
}

// isMarker reports whether a line begins or ends a conflict, or begins its part with the common base. The
// line between the sides is not considered: ======= alone also underlines titles.
func isMarker(line []byte) bool {
	for _, mark := range []string{"<<<<<<<", "|||||||", ">>>>>>>"} {
		rest, found := bytes.CutPrefix(line, []byte(mark))
		// A row of an empty table ends after its bars.
		if found && (bytes.HasPrefix(rest, []byte(" ")) || mark != "|||||||" && len(bytes.TrimRight(rest, "\r\n")) == 0) {
			return true
		}
	}
	return false
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// untouched reports whether the tree holds exactly one side of a conflict, which is what git leaves when it
// cannot write markers.
func (t *Tree) untouched(ctx context.Context, path string, s stages) (bool, error) {
	info, err := os.Lstat(filepath.Join(t.git.Tree, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // deleted by hand: git always leaves one side in the tree
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return true, nil // a link or a submodule: only git add can resolve it
	}
	mode := "100644" // git may have merged the permissions, so that they are those of neither side
	if info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	for _, side := range s[2:] {
		if !strings.HasPrefix(side.mode, "100") {
			continue
		}
		same, err := t.asCheckedOut(ctx, map[string]blob{path: {mode, side.sha}})
		if err != nil || len(same) > 0 {
			return true, err
		}
	}
	return false, nil
}
