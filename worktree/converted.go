package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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

// converted returns the files, by path, that git takes for changed although nobody changed them.
func (t *Tree) converted(ctx context.Context, env, entries []string) ([]string, error) {
	out, err := t.git.OutputOf(ctx, gitcmd.Command{Env: env, Args: []string{"diff-files", "--name-only", "--diff-filter=M", "-z"}})
	if err != nil {
		return nil, err
	}
	return t.asCheckedOut(ctx, blobsOf(entries, splitNames(out)))
}

// blobsOf returns those of the paths that are regular files of the index, and not in conflict.
func blobsOf(entries, paths []string) map[string]blob {
	wanted, found := map[string]bool{}, map[string]blob{}
	for _, path := range paths {
		wanted[path] = true
	}
	for _, entry := range entries {
		meta, path, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(meta[1:]); wanted[path] && len(f) == 3 && strings.HasPrefix(f[0], "100") && f[2] == "0" {
			found[path] = blob{f[0], f[1]}
		}
	}
	return found
}

// add runs git add on everything except for files that it would only convert. Entries are those of the index.
func (t *Tree) add(ctx context.Context, env, entries []string) error {
	same, err := t.converted(ctx, env, entries)
	if err == nil {
		err = t.addWithout(ctx, env, same)
	}
	// Git also reads files as young as the index to store them, and gives up if one is not in its encoding.
	if !gitcmd.Says(err, "encoded as") && !gitcmd.Says(err, "failed to encode") {
		return err
	}
	encoded, attrErr := t.encoded(ctx, entries)
	if attrErr == nil {
		encoded, attrErr = t.asCheckedOut(ctx, blobsOf(entries, encoded))
	}
	if attrErr != nil || len(encoded) == 0 {
		return errors.Join(err, attrErr)
	}
	return t.addWithout(ctx, env, append(same, encoded...))
}

func (t *Tree) addWithout(ctx context.Context, env, paths []string) error {
	if err := t.mark(ctx, env, "--assume-unchanged", paths); err != nil {
		return err
	}
	err := t.git.Run(ctx, gitcmd.Command{Env: env, Args: []string{"add", "--all", "--", "."}})
	return errors.Join(err, t.mark(ctx, env, "--no-assume-unchanged", paths))
}

// encoded returns the paths of the index that are checked out in another encoding.
func (t *Tree) encoded(ctx context.Context, entries []string) (paths []string, err error) {
	var all []string
	for _, entry := range entries {
		_, path, _ := strings.Cut(entry, "\t")
		all = append(all, path)
	}
	values, err := t.attributes(ctx, "working-tree-encoding", all)
	for path, value := range values {
		if value != "unspecified" {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// attributes returns the values that an attribute has for paths of the tree.
func (t *Tree) attributes(ctx context.Context, name string, paths []string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := t.git.OutputOf(ctx, gitcmd.Command{Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
		Args: []string{"check-attr", "-z", "--stdin", name}})
	values, fields := map[string]string{}, splitNames(out) // path, attribute, value
	for i := 0; i+2 < len(fields); i += 3 {
		values[fields[i]] = fields[i+2]
	}
	return values, err
}

// asCheckedOut returns the paths, sorted, at which the tree has exactly what git writes when it checks the files out.
func (t *Tree) asCheckedOut(ctx context.Context, files map[string]blob) (same []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	dir := filepath.Join(t.git.Dir, "converted") // always the same, as a process may end before it removes it
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	paths := slices.Sorted(maps.Keys(files))
	var info strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&info, "%s %s 0\t%s\x00", files[path].mode, files[path].sha, path)
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if err := t.git.Run(ctx, gitcmd.Command{Env: env, Stdin: strings.NewReader(info.String()),
		Args: []string{"update-index", "-z", "--index-info"}}); err != nil {
		return nil, err
	}
	written := filepath.Join(dir, "files")
	if err := t.git.Run(ctx, gitcmd.Command{Env: env,
		Args: []string{"checkout-index", "--quiet", "--all", "--force", "--prefix=" + written + "/"}}); err != nil {
		return nil, err
	}
	for _, path := range paths {
		equal, err := t.equals(path, filepath.Join(written, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		if equal {
			same = append(same, path)
		}
	}
	return same, nil
}

// equals reports whether a path of the tree is a regular file with the content and the permissions of another file.
func (t *Tree) equals(path, other string) (equal bool, err error) {
	want, err := os.Open(other)
	if err != nil {
		return false, err
	}
	defer want.Close() // only read from
	info, err := want.Stat()
	if err != nil {
		return false, err
	}
	is, err := os.Lstat(filepath.Join(t.git.Tree, filepath.FromSlash(path)))
	if err != nil || is.Mode()&0o100 != info.Mode()&0o100 || is.Size() != info.Size() {
		return false, ignoreNotExist(err)
	}
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
	entries, err := t.entries(ctx, nil)
	if err != nil {
		return errors.Join(why, err)
	}
	same, err := t.converted(ctx, nil, entries)
	if err != nil || len(same) == 0 {
		return errors.Join(why, err)
	}
	if err := writeFile(filepath.Join(t.git.Dir, takenAway), strings.Join(same, "\x00")); err != nil {
		return errors.Join(why, err)
	}
	for _, path := range same {
		if err = os.Remove(filepath.Join(t.git.Tree, filepath.FromSlash(path))); err != nil {
			break
		}
	}
	if err == nil {
		why = merge()
	}
	// Files that are missing would count as deleted by hand.
	return errors.Join(why, err, t.bringBack(context.WithoutCancel(ctx)))
}

// takenAway is the file, beside the index, with the paths that withoutConverted takes out of the tree. It is there for as
// long as they may be missing, even if the process is killed meanwhile.
const takenAway = "taken-away"

// bringBack writes the files again that a merge did without, as far as the index still has them.
func (t *Tree) bringBack(ctx context.Context) error {
	list := filepath.Join(t.git.Dir, takenAway)
	paths, err := os.ReadFile(list)
	if err != nil {
		return ignoreNotExist(err)
	}
	entries, err := t.entries(ctx, nil)
	if err != nil {
		return err
	}
	gone := splitNames(paths)
	var missing strings.Builder
	for _, entry := range entries {
		meta, path, _ := strings.Cut(entry, "\t")
		if _, lacks := slices.BinarySearch(gone, path); lacks && strings.HasSuffix(meta, " 0") &&
			!exists(filepath.Join(t.git.Tree, filepath.FromSlash(path))) {
			missing.WriteString(path + "\x00")
		}
	}
	if missing.Len() > 0 {
		if err := t.git.Run(ctx, gitcmd.Command{Stdin: strings.NewReader(missing.String()),
			Args: []string{"checkout-index", "--quiet", "--force", "-z", "--stdin"}}); err != nil {
			return err
		}
	}
	return os.Remove(list)
}
