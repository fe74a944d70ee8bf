package code

import (
	"bytes"
	"cmp"
	"go/build"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"touchstone/verdict/guard/change"
)

// A pattern such as ./... of the go command matches the packages below a folder that belong to its module, or to its
// workspace. See https://go.dev/ref/mod and https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns.
const (
	goModule    = "go.mod"
	goWorkspace = "go.work"
)

// IsModule reports whether a file of this name says which folders are one Go module, or one workspace.
func IsModule(name string) bool {
	return path.Base(name) == goModule || path.Base(name) == goWorkspace
}

// Folder is a folder, or, if Anywhere is set, each folder at any depth of it whose path ends so.
type Folder struct{ Dir, Anywhere string }

// Has reports whether a file is in the folder, or deeper.
func (f Folder) Has(file string) bool {
	if f.Dir != "." {
		var in bool
		if file, in = strings.CutPrefix(file, f.Dir+"/"); !in {
			return false
		}
	}
	return f.Anywhere == "" || strings.Contains("/"+file, "/"+f.Anywhere+"/")
}

// apart is a folder that ./... may no longer match, and what says so.
type apart struct {
	Folder
	at  change.Place
	why string
	// module says that the folder is a module, whose tests run if a workspace uses it.
	module bool
}

// maxApart bounds the folders of one change that are looked at.
const maxApart = 50

// Apart returns the folders that a change takes out of what ./... of the go command matches, with or without tests in
// them; the first 50 if there are more.
func Apart(changed []change.File) (all []Folder) {
	for _, f := range changed {
		for _, a := range apartOf(f) {
			all = append(all, a.Folder)
		}
	}
	return all[:min(len(all), maxApart)]
}

// apartOf are the folders that one file takes out: a new module, what a module ignores now, and the modules that a
// workspace does not use any more.
func apartOf(f change.File) (all []apart) {
	base, dir := path.Base(f.Name()), path.Dir(f.Name())
	switch {
	case base == goModule && f.Path != "" && f.Path != f.OldPath:
		line, _, _ := bytes.Cut(f.After, []byte("\n"))
		at := change.Place{Path: f.Path, Line: 1, After: cmp.Or(string(line), goModule)}
		return []apart{{Folder{Dir: dir}, at, "is a module of its own now", true}}
	case base == goModule && f.Path == f.OldPath && bytes.Contains(f.After, []byte("ignore")):
		before, after := ignores(f.OldPath, f.Before), ignores(f.Path, f.After)
		for _, i := range after {
			if !slices.ContainsFunc(before, func(b *modfile.Ignore) bool { return b.Path == i.Path }) {
				at := change.Place{Path: f.Path, Line: i.Syntax.Start.Line, After: "ignore " + i.Path}
				all = append(all, apart{Folder: ignored(dir, i.Path), at: at, why: "is ignored by its module now"})
			}
		}
	case base == goWorkspace && f.OldPath != "":
		after := uses(f.Path, f.After)
		for _, u := range uses(f.OldPath, f.Before) {
			used := slices.ContainsFunc(after, func(a *modfile.Use) bool { return path.Clean(a.Path) == path.Clean(u.Path) })
			if !used && (f.Path != "" || path.Clean(u.Path) != ".") {
				at := change.Place{Path: f.Name(), Line: u.Syntax.Start.Line, Before: "use " + u.Path}
				all = append(all, apart{
					Folder: Folder{Dir: path.Join(dir, u.Path)}, at: at, why: "is no longer a module of the workspace", module: true,
				})
			}
		}
	}
	return all
}

// ignored is what an ignore directive of a module names: without ./ at the beginning, folders at any depth.
func ignored(module, name string) Folder {
	if strings.HasPrefix(name, "./") {
		return Folder{Dir: path.Join(module, name)}
	}
	return Folder{Dir: module, Anywhere: path.Clean(name)}
}

// ignores and uses are the directives of a file; none if it is missing or does not parse, as then the go command fails.
func ignores(name string, content []byte) []*modfile.Ignore {
	if f, err := modfile.ParseLax(name, content, nil); err == nil {
		return f.Ignore
	}
	return nil
}

func uses(name string, content []byte) []*modfile.Use {
	if f, err := modfile.ParseWork(name, content, nil); err == nil {
		return f.Use
	}
	return nil
}

// compareApart finds Go tests that ./... does not match any more, because their folder is apart from its module or its
// workspace. Something else may run them, which the session has to find out: in the histories of 57 repositories, 13
// folders became modules.
func (x *examination) compareApart(files []change.File) {
	at, used, left := moduleDirs(files), usedDirs(files), maxApart
	for _, f := range files {
		for _, a := range apartOf(f) {
			if left--; left < 0 {
				return
			}
			test := testBelow(files, at, a.Folder)
			if test == "" || a.module && (!at[1][a.Dir] || used[a.Dir]) {
				continue
			}
			x.say(change.Evidence, change.Test, "test/module-apart",
				"The folder "+cmp.Or(a.Anywhere, a.Dir)+" "+a.why+", so ./... no longer runs its tests, such as "+test+".", a.at)
		}
	}
}

// compareReplaced finds a library with which tests check, in whose place a module or a workspace takes another one.
func (x *examination) compareReplaced(files []change.File) {
	for _, f := range files {
		had := replaces(f.OldPath, f.Before)
		for _, r := range replaces(f.Path, f.After) {
			library, stands := r.Old.Path, func(b *modfile.Replace) bool { return b.Old.Path == r.Old.Path }
			if f.OldPath == "" && path.Base(f.Path) == goModule || !checkers.MatchString(library) || library == r.New.Path ||
				slices.ContainsFunc(had, stands) {
				continue
			}
			x.say(change.Evidence, change.Test, "test/setup", "What tests check with, "+library+", is "+r.New.Path+" now.",
				change.Place{Path: f.Path, Line: r.Syntax.Start.Line, After: "replace " + library})
		}
	}
}

// replaces are the directives of a module or a workspace that replace modules; none if the file is missing or does not parse.
func replaces(name string, content []byte) []*modfile.Replace {
	switch path.Base(name) {
	case goModule:
		if f, err := modfile.Parse(name, content, nil); err == nil {
			return f.Replace
		}
	case goWorkspace:
		if f, err := modfile.ParseWork(name, content, nil); err == nil {
			return f.Replace
		}
	}
	return nil
}

// checkers match the modules with which tests of Go check.
var checkers = regexp.MustCompile(`testify|go-cmp|gomega|ginkgo|gotest\.tools|golang/mock|uber.*/mock|quicktest|matryer/is`)

// moduleDirs are the folders of all known modules, at the base and at the head.
func moduleDirs(files []change.File) (at [2]map[string]bool) {
	at = [2]map[string]bool{{}, {}}
	for _, f := range files {
		for i, name := range []string{f.OldPath, f.Path} {
			if path.Base(name) == goModule {
				at[i][path.Dir(name)] = true
			}
		}
	}
	return at
}

// usedDirs are the folders of the modules that workspaces use at the head.
func usedDirs(files []change.File) map[string]bool {
	used := map[string]bool{}
	for _, f := range files {
		if path.Base(f.Path) == goWorkspace {
			for _, u := range uses(f.Path, f.After) {
				used[path.Join(path.Dir(f.Path), u.Path)] = true
			}
		}
	}
	return used
}

// testBelow is a Go test of a folder that is in no other module further down, and that was in a module that is still
// there, perhaps in another folder; "" if there is none.
func testBelow(files []change.File, at [2]map[string]bool, folder Folder) string {
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".go") || !isTestPath(f.Path) || !isTestPath(f.OldPath) || !folder.Has(f.Path) {
			continue
		}
		d := path.Dir(f.Path)
		for d != folder.Dir && d != "." && !at[1][d] {
			d = path.Dir(d)
		}
		if d == folder.Dir && at[1][moduleOf(at[0], f.OldPath)] {
			return f.Path
		}
	}
	return ""
}

// moduleOf is the folder of the module of a file; "" if it has none.
func moduleOf(modules map[string]bool, file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if modules[dir] {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// allSystems is the set of Linux, macOS and Windows.
const allSystems = 7

// systems is the set of systems that Go builds a file for.
func systems(name string, content []byte) (set uint8) {
	if !strings.HasSuffix(name, ".go") {
		return 0
	}
	for i, system := range []string{"linux", "darwin", "windows"} {
		context := build.Context{GOOS: system, GOARCH: "amd64", Compiler: "gc", CgoEnabled: true, ReleaseTags: build.Default.ReleaseTags,
			OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
		if ok, err := context.MatchFile("", path.Base(name)); err == nil && ok {
			set |= 1 << i
		}
	}
	return set
}
