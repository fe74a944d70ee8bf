package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Submodule is one entry of .gitmodules: all sections with one name.
type Submodule struct {
	Name     string
	Settings []Setting // in the file's order
}

// Setting is one line of an entry. A line without a value has the value "".
type Setting struct {
	Key   string // in lower case
	Value string
}

// Value returns the value of a key, and "" if the entry has none or several: programs differ in which of several they
// follow.
func (s Submodule) Value(key string) string {
	value, n := "", 0
	for _, line := range s.Settings {
		if line.Key == key {
			value, n = line.Value, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return value
}

// Has reports whether an entry has a key.
func (s Submodule) Has(key string) bool {
	return slices.ContainsFunc(s.Settings, func(line Setting) bool { return line.Key == key })
}

const (
	modulesName = ".gitmodules"
	// maxModules bounds a .gitmodules that is read, in bytes.
	maxModules = 1 << 20
)

// Submodules returns the entries of .gitmodules in a commit or tree, by git's own reading of it.
//
// Errors: fs.ErrNotExist if there is no such file; ErrTooLarge beyond 1 MiB; fs.ErrInvalid if it is a link or anything
// else that is not a regular file. What git cannot read is an error.
func (t *Tree) Submodules(ctx context.Context, rev string) ([]Submodule, error) {
	op := fmt.Sprintf("read %s at %.12s", modulesName, rev)
	if err := checkSHAs(rev); err != nil {
		return nil, err
	}
	out, err := t.mirror.Output(ctx, "ls-tree", "-z", "--full-tree", rev, "--", modulesName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	f := strings.Fields(string(out)) // "100644 blob 3b18e5…\t.gitmodules"
	switch {
	case len(f) == 0:
		return nil, fmt.Errorf("%s: %w", op, fs.ErrNotExist)
	case len(f) < 4 || !strings.HasPrefix(f[0], "100"):
		return nil, fmt.Errorf("%s: it is not a regular file: %w", op, fs.ErrInvalid)
	}
	length, err := t.mirror.Line(ctx, "cat-file", "-s", f[2])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if size, err := strconv.ParseInt(length, 10, 64); err != nil || size > maxModules {
		return nil, fmt.Errorf("%s: %s bytes: %w", op, length, ErrTooLarge)
	}
	out, err = t.mirror.Output(ctx, "config", "--blob="+f[2], "--no-includes", "--null", "--list")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return modules(out), nil
}

// SubmodulePaths returns the paths at which a commit or tree has submodules, whether .gitmodules has entries for them or not.
func (t *Tree) SubmodulePaths(ctx context.Context, rev string) (map[string]bool, error) {
	return t.pathsOf(ctx, rev, "160000")
}

// LinkPaths returns the paths at which a commit or tree has symbolic links.
func (t *Tree) LinkPaths(ctx context.Context, rev string) (map[string]bool, error) {
	return t.pathsOf(ctx, rev, "120000")
}

// pathsOf returns the paths that have one of git's modes.
func (t *Tree) pathsOf(ctx context.Context, rev, mode string) (map[string]bool, error) {
	if err := checkSHAs(rev); err != nil {
		return nil, err
	}
	out, err := t.mirror.Output(ctx, "ls-tree", "-r", "-z", "--full-tree", rev)
	if err != nil {
		return nil, fmt.Errorf("list the entries of %.12s: %w", rev, err)
	}
	paths := map[string]bool{}
	for line := range strings.SplitSeq(string(out), "\x00") { // "160000 commit 3b18e5…\tname"
		if meta, name, _ := strings.Cut(line, "\t"); strings.HasPrefix(meta, mode+" ") {
			paths[name] = true
		}
	}
	return paths, nil
}

// modules reads what "git config --null --list" prints: "section.name.key", a line feed before the value if there is
// one, and a NUL (https://git-scm.com/docs/git-config#Documentation/git-config.txt---null).
func modules(listed []byte) (all []Submodule) {
	for line := range bytes.SplitSeq(listed, []byte{0}) {
		key, value, _ := strings.Cut(string(line), "\n")
		name, ours := strings.CutPrefix(key, "submodule.")
		last := strings.LastIndexByte(name, '.')
		if !ours || last < 0 { // of another section, or for all submodules
			continue
		}
		name, key = name[:last], name[last+1:]
		i := slices.IndexFunc(all, func(s Submodule) bool { return s.Name == name })
		if i < 0 {
			i, all = len(all), append(all, Submodule{Name: name})
		}
		all[i].Settings = append(all[i].Settings, Setting{Key: key, Value: value})
	}
	return all
}
