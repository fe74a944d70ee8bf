package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Base reads files as they are in a commit.
type Base interface {
	// ReadFile returns a file's content.
	ReadFile(ctx context.Context, rev, name string) ([]byte, error)
	// ReadDir lists the names in a directory, "." being the root; those of
	// directories end in a slash. It fails with [fs.ErrNotExist] where there is none.
	ReadDir(ctx context.Context, rev, dir string) ([]string, error)
}

const (
	// maxAround bounds the unchanged files that are added to a change.
	maxAround = 300
	// maxWalk bounds the directories that are looked through for what a new file
	// governs.
	maxWalk = 200
)

// Surround adds to a change what it leaves as it is and has to be seen with: the
// configurations that a new one takes the place of, the workflows beside a changed
// one, and of the code below a new configuration or module one file. It reads them
// from the commit that the change is compared with. A file that cannot be read is
// added as [File.Unread].
func Surround(ctx context.Context, change *Change, rev string, base Base) error {
	a := around{
		change: change, have: map[string]bool{},
		names:   func(dir string) ([]string, error) { return base.ReadDir(ctx, rev, dir) },
		content: func(name string) ([]byte, error) { return base.ReadFile(ctx, rev, name) },
		ended:   ctx.Err,
	}
	for _, f := range change.Files {
		a.have[f.Path], a.have[f.OldPath] = true, true
	}
	for _, f := range slices.Clone(change.Files) {
		a.gather(f)
	}
	if a.err != nil {
		return fmt.Errorf("read what stands around the change: %w", a.err)
	}
	return nil
}

// around gathers unchanged files. The first error ends it.
type around struct {
	change *Change
	// names and content read the base.
	names   func(dir string) ([]string, error)
	content func(name string) ([]byte, error)
	ended   func() error
	have    map[string]bool
	added   int
	err     error
}

func (a *around) gather(f File) {
	if dir := path.Dir(f.Path); f.Path != "" && isWorkflow(f.Path) {
		a.take(dir, isWorkflow)
	}
	if f.Path == "" || path.Dir(f.Path) == path.Dir(f.OldPath) && f.Path == f.OldPath {
		return
	}
	dir := path.Dir(f.Path)
	if isModule(f.Path) {
		a.witness(dir, isTest)
	}
	if len(nearestTools(f.Path)) == 0 {
		return
	}
	for up := dir; ; up = path.Dir(up) {
		a.take(up, func(name string) bool { return rivals(f.Path, name) })
		if up == "." {
			break
		}
	}
	a.witness(dir, func(name string) bool { return languageOf(name) != "" && len(toolsOf(name)) == 0 })
}

// list reads a directory. A directory that is not there is empty.
func (a *around) list(dir string) []string {
	if a.err != nil || a.added >= maxAround {
		return nil
	}
	names, err := a.names(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.err = err
	}
	return names
}

// take adds the files of a directory whose paths are wanted.
func (a *around) take(dir string, wanted func(name string) bool) {
	for _, name := range a.list(dir) {
		if full := path.Join(dir, name); !strings.HasSuffix(name, "/") && wanted(full) {
			a.add(full)
		}
	}
}

func (a *around) add(name string) {
	if a.have[name] || a.err != nil || a.added >= maxAround {
		return
	}
	a.have[name] = true
	a.added++
	content, err := a.content(name)
	if a.err = a.ended(); a.err != nil {
		return
	}
	a.change.Files = append(a.change.Files, File{Path: name, OldPath: name, Before: content, After: content, Unread: err != nil})
}

// witness adds one file of a kind from a directory or below it: the proof that there
// was something that a new file there is about.
func (a *around) witness(dir string, wanted func(name string) bool) {
	todo := []string{dir}
	for n := 0; len(todo) > 0 && n < maxWalk; n++ {
		one := todo[0]
		todo = todo[1:]
		for _, name := range a.list(one) {
			full := path.Join(one, name)
			switch {
			case strings.HasSuffix(name, "/"):
				todo = append(todo, full)
			case wanted(full):
				a.add(full)
				return
			}
		}
	}
}
