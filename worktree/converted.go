package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/worktree/gitcmd"
)

// A repository's attributes may have git convert a file, its line ends for instance, that was committed without
// that. Git takes such a file for changed although nobody touched it, but only if it was written in the same second
// as the index, since otherwise git does not read it. See https://git-scm.com/docs/gitattributes and
// https://git-scm.com/docs/racy-git. What follows keeps such files as they were committed.

// blob is a regular file of an index.
type blob struct{ mode, sha string }

// blobsOf returns the regular files among the entries of an index, without those of a conflict.
func blobsOf(entries []string) map[string]blob {
	found := map[string]blob{}
	for _, entry := range entries {
		meta, path, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(meta[1:]); len(f) == 3 && strings.HasPrefix(f[0], "100") && f[2] == "0" {
			found[path] = blob{f[0], f[1]}
		}
	}
	return found
}

// keepConverted puts the files back into the index that git add recorded although nobody changed them. before and
// after are the entries of the index around git add.
func (t *Tree) keepConverted(ctx context.Context, env, before, after []string) error {
	was, suspects := blobsOf(before), map[string]blob{}
	for path, is := range blobsOf(after) {
		if old, ok := was[path]; ok && old.sha != is.sha {
			suspects[path] = blob{is.mode, old.sha}
		}
	}
	paths, err := t.asCheckedOut(ctx, suspects)
	if err != nil || len(paths) == 0 {
		return err
	}
	return t.updateIndex(ctx, env, suspects, paths)
}

// updateIndex puts files into an index.
func (t *Tree) updateIndex(ctx context.Context, env []string, files map[string]blob, paths []string) error {
	var info strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&info, "%s %s 0\t%s\x00", files[path].mode, files[path].sha, path)
	}
	return t.git.Run(ctx, gitcmd.Command{Env: env, Stdin: strings.NewReader(info.String()),
		Args: []string{"update-index", "-z", "--index-info"}})
}

// asCheckedOut returns the paths, sorted, at which the tree has exactly what git writes when it checks the files out.
func (t *Tree) asCheckedOut(ctx context.Context, files map[string]blob) (same []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp(t.git.Dir, "converted-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if err := t.updateIndex(ctx, env, files, paths); err != nil {
		return nil, err
	}
	written := filepath.Join(dir, "files")
	if err := t.git.Run(ctx, gitcmd.Command{Env: env,
		Args: []string{"checkout-index", "--quiet", "--all", "--force", "--prefix=" + written + "/"}}); err != nil {
		return nil, err
	}
	for _, path := range paths {
		equal, err := t.hasContentOf(path, filepath.Join(written, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		if equal {
			same = append(same, path)
		}
	}
	return same, nil
}

// hasContentOf reports whether a path of the tree is a regular file with the content of another file.
func (t *Tree) hasContentOf(path, other string) (equal bool, err error) {
	want, err := os.Open(other)
	if err != nil {
		return false, err
	}
	defer want.Close() // only read from
	_, err = t.readFrom(path, func(f io.Reader) error {
		a, b := make([]byte, 64<<10), make([]byte, 64<<10)
		for {
			n, errA := io.ReadFull(f, a)
			m, errB := io.ReadFull(want, b)
			if equal = bytes.Equal(a[:n], b[:m]); !equal || n < len(a) {
				return errors.Join(unlessEnd(errA), unlessEnd(errB))
			}
		}
	})
	return equal, err
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// withoutConverted runs a merge that git refused because of local changes. Files that git only takes for changed are
// not in the tree meanwhile: git overwrites no file, but writes one that is missing. Without such files it returns why.
func (t *Tree) withoutConverted(ctx context.Context, why error, merge func() error) error {
	out, err := t.git.Output(ctx, "diff-files", "--name-only", "--diff-filter=M", "-z")
	if err != nil {
		return errors.Join(why, err)
	}
	entries, err := t.entries(ctx, nil)
	if err != nil {
		return errors.Join(why, err)
	}
	all, changed := blobsOf(entries), map[string]blob{}
	for _, path := range splitNames(out) {
		if b, ok := all[path]; ok {
			changed[path] = b
		}
	}
	same, err := t.asCheckedOut(ctx, changed)
	if err != nil || len(same) == 0 {
		return errors.Join(why, err)
	}
	for _, path := range same {
		if err := os.Remove(filepath.Join(t.git.Tree, filepath.FromSlash(path))); err != nil {
			return errors.Join(why, err)
		}
	}
	merged := merge()
	if entries, err = t.entries(ctx, nil); err != nil {
		return errors.Join(merged, err)
	}
	all = blobsOf(entries)
	missing := slices.DeleteFunc(same, func(path string) bool {
		_, kept := all[path]
		return !kept || exists(filepath.Join(t.git.Tree, filepath.FromSlash(path)))
	})
	if len(missing) == 0 {
		return merged
	}
	return errors.Join(merged, t.git.Run(ctx, gitcmd.Command{Stdin: strings.NewReader(strings.Join(missing, "\x00") + "\x00"),
		Args: []string{"checkout-index", "--quiet", "--force", "-z", "--stdin"}}))
}
