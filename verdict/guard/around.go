package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/ci"
	"touchstone/verdict/guard/code"
	"touchstone/verdict/guard/tools"
)

// Base reads files as they are in a commit.
type Base interface {
	// ReadFile returns a file's content.
	ReadFile(ctx context.Context, rev, name string) ([]byte, error)
	// ReadDir lists the names in a directory; "." is the root. The names of directories end in a slash. It
	// fails with [fs.ErrNotExist] if the directory does not exist.
	ReadDir(ctx context.Context, rev, dir string) ([]string, error)
}

// maxAround bounds the unchanged files that are added to a change.
const maxAround = 300

// maxFolders bounds the folders that are searched for attributes. Files in any further folder count as the
// repository's own.
const maxFolders = 100

// These bound the code that is added to a change, and the folders that are searched for it. Of a larger repository
// none is added, since only all of it says that nothing tests a name.
const (
	maxSources    = 1000
	maxSourceDirs = 500
	maxSourceSize = 16 << 20 // bytes
)

// Surround adds to a change the unchanged files that are needed to judge it: the other pipelines, the scripts that they
// run and the manifests at the root, if one of those, a list of tasks or a program beside them changed; the
// configurations that a new one replaces; a test of each folder that leaves a Go module, and the modules around it; the
// code that deleted tests may have tested, and the other tests; and the attributes that mark files as not the
// repository's own. It reads these files from the base commit of the change. A file that cannot be read is added as
// [File.Unread].
func Surround(ctx context.Context, c *Change, rev string, base Base) error {
	a := around{change: c, rev: rev, base: base, have: map[string]bool{}, listed: map[string][]string{}}
	for _, f := range c.Files {
		a.have[f.Path], a.have[f.OldPath] = true, true
	}
	for i, f := range c.Files {
		if tools.NamesOwners(f.OldPath) {
			c.Files[i].Vacant, c.Files[i].Inhabited = a.owned(ctx, f)
		}
	}
	changed := slices.Clone(c.Files)
	for _, f := range changed {
		if len(a.listed) < maxFolders {
			a.upwards(ctx, f.Name(), isAttributes)
		}
	}
	script := func(name string) bool { dir := path.Dir(name); return dir != "." && slices.Contains(pipelineDirs, dir) }
	if slices.ContainsFunc(changed, func(f File) bool { return ci.Resolves(f.Path) || ci.Resolves(f.OldPath) || script(f.Path) }) {
		a.pipelines(ctx, changed)
	}
	for _, folder := range code.Apart(changed) {
		a.module(ctx, folder)
	}
	if wanted := code.Untested(changed); wanted != nil {
		a.sources(ctx, wanted)
	}
	for _, f := range changed {
		if f.Path == "" || f.Path == f.OldPath || !tools.Examines(f.Path) {
			continue
		}
		a.upwards(ctx, f.Path, func(name string) bool { return tools.Rivals(f.Path, name) })
	}
	if a.err != nil {
		return fmt.Errorf("read what stands around the change: %w", a.err)
	}
	return nil
}

// around gathers unchanged files. It stops at the first error.
type around struct {
	change *Change
	rev    string
	base   Base
	have   map[string]bool
	listed map[string][]string
	added  int
	err    error
}

// owned divides the patterns that a file of owners no longer has: [change.File.Vacant].
func (a *around) owned(ctx context.Context, f File) (vacant, inhabited []string) {
	for line := range strings.Lines(string(f.Before)) {
		pattern, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		dir, last, ok := tools.Folder(pattern)
		if !ok || bytes.Contains(f.After, []byte(line)) || len(a.listed) >= maxFolders {
			continue
		}
		left := func(name string) bool {
			is, _ := path.Match(last, strings.TrimSuffix(name, "/"))
			return is && a.leaves(ctx, path.Join(dir, name), strings.HasSuffix(name, "/"))
		}
		if slices.ContainsFunc(a.list(ctx, dir), left) {
			inhabited = append(inhabited, pattern)
		} else {
			vacant = append(vacant, pattern)
		}
	}
	return vacant, inhabited
}

// leaves reports whether a file of the base, or one in a folder of it, stays where it is. It takes that for granted behind maxFolders.
func (a *around) leaves(ctx context.Context, name string, folder bool) bool {
	if !folder {
		return !slices.ContainsFunc(a.change.Files, func(f File) bool { return f.OldPath == name && f.Path != name })
	}
	return len(a.listed) >= maxFolders || slices.ContainsFunc(a.list(ctx, name), func(in string) bool {
		return a.leaves(ctx, path.Join(name, in), strings.HasSuffix(in, "/"))
	})
}

// upwards takes the wanted files from the folder of a file and from all folders above it.
func (a *around) upwards(ctx context.Context, file string, wanted func(name string) bool) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		a.take(ctx, dir, wanted, maxAround)
		if dir == "." || dir == "/" {
			return
		}
	}
}

// pipelines takes all pipelines, the repository's own actions, and the scripts that are known by name.
func (a *around) pipelines(ctx context.Context, changed []File) {
	for _, dir := range pipelineDirs {
		a.take(ctx, dir, ci.Resolves, maxAround)
	}
	// golangci-lint or pre-commit may have a linter that a pipeline ran by itself.
	a.take(ctx, ".", ci.Lints, maxAround)
	for _, f := range changed {
		if dir := path.Dir(f.Name()); ci.Resolves(f.Name()) {
			a.take(ctx, dir, ci.Examines, maxAround)
		}
	}
	for _, name := range a.list(ctx, ".github/actions") {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			a.take(ctx, path.Join(".github/actions", dir), ci.Examines, maxAround)
		}
	}
}

// module takes the Go modules and workspaces around a folder, the modules in it, and one of its tests.
func (a *around) module(ctx context.Context, folder code.Folder) {
	a.upwards(ctx, path.Join(folder.Dir, "go.mod"), code.IsModule)
	dirs, found := []string{folder.Dir}, false
	for i := 0; i < min(len(dirs), maxFolders); i++ {
		if a.take(ctx, dirs[i], code.IsModule, maxAround); slices.Contains(a.list(ctx, dirs[i]), "go.mod") && i > 0 {
			continue // another module, whose tests are not those of the folder
		}
		for _, name := range a.list(ctx, dirs[i]) {
			full := path.Join(dirs[i], name)
			switch sub := strings.HasSuffix(name, "/"); {
			case sub && !vendored(full+"/"):
				dirs = append(dirs, full)
			case !sub && !found && !a.have[full] && folder.Has(full) && strings.HasSuffix(name, "_test.go") && code.IsTest(full):
				found = true
				a.take(ctx, dirs[i], func(name string) bool { return name == full }, maxAround)
			}
		}
	}
}

// sources takes all wanted files of a small repository.
func (a *around) sources(ctx context.Context, wanted func(name string) bool) {
	dirs, n := []string{"."}, 0
	for i := 0; i < len(dirs); i++ {
		for _, name := range a.list(ctx, dirs[i]) {
			full := path.Join(dirs[i], name)
			switch dir := strings.HasSuffix(name, "/"); {
			case dir && !vendored(full+"/"):
				dirs = append(dirs, full)
			case !dir && wanted(full):
				n++
			}
		}
		if n > maxSources || len(dirs) > maxSourceDirs {
			return
		}
	}
	changed, size := len(a.change.Files), 0
	for _, dir := range dirs {
		a.take(ctx, dir, wanted, maxSources)
	}
	for _, f := range a.change.Files[changed:] {
		if size += len(f.After); f.Unread || size > maxSourceSize {
			a.change.Files = a.change.Files[:changed]
			return
		}
	}
}

// list reads a directory. A missing directory is empty.
func (a *around) list(ctx context.Context, dir string) []string {
	if a.err != nil {
		return nil
	}
	names, known := a.listed[dir]
	if !known {
		var err error
		if names, err = a.base.ReadDir(ctx, a.rev, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.err = err
		}
		a.listed[dir] = names
	}
	return names
}

// take adds the files of a directory whose paths are wanted.
func (a *around) take(ctx context.Context, dir string, wanted func(name string) bool, most int) {
	for _, name := range a.list(ctx, dir) {
		full := path.Join(dir, name)
		if strings.HasSuffix(name, "/") || !wanted(full) || a.have[full] || a.added >= most || a.err != nil {
			continue
		}
		a.have[full] = true
		a.added++
		content, err := a.base.ReadFile(ctx, a.rev, full)
		if a.err = ctx.Err(); a.err == nil && !errors.Is(err, fs.ErrInvalid) { // not a link, which has no content of its own
			a.change.Files = append(a.change.Files, File{Path: full, OldPath: full, Before: content, After: content, Unread: err != nil})
		}
	}
}
