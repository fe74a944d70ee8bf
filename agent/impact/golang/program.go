// Package golang resolves names in a commit's Go files by their types: to which definition the name of a
// field or a method refers. It parses and checks only the repository's own sources, with go/parser and
// go/types: it loads and runs no build tool, no other module, nothing of the standard library and nothing of
// the commit. Expressions that depend on those have no type, so each answer is either certain or missing.
//
// A few lines of Go can make go/types use any amount of time and memory, and nothing can interrupt it. So it runs in a
// child of this program, which is killed when it exceeds its bounds; see [Task].
//
// It stores nothing.
package golang

import (
	"cmp"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"touchstone/agent/bounded"
)

// The bounds of one program, if it sets none. The packages of a sheet, at most 4 MiB of text, take a second or two and 100
// to 200 MiB.
const (
	maxTime   = 20 * time.Second
	maxMemory = 1 << 30
)

// Task is checking the types of one program.
var Task = bounded.NewTask("touchstone-types", func() func(question) answer { return newChecker().answer })

// Program is the part of a commit that was read. Close it after use.
type Program struct {
	// Read reads files of the commit by path and passes each text to take, which must not keep it; the text
	// is nil for a file that is too large.
	Read func(paths []string, take func(path string, text []byte)) error
	// Bounds are what checking the types may take; 0 stands for the default of each.
	Bounds bounded.Bounds

	layout
	mods    []string          // the go.mod files that were not read yet
	texts   map[string][]byte // the files that were read
	left    int               // the number of bytes that may still be read
	checked map[string]bool   // files whose refs are known
	refs    map[string][]Ref
	missing map[string][]Missing
	passed  int                              // files that were not read because there were too many
	news    question                         // what was read since the last question
	told    map[string]bool                  // the directories in earlier news
	typed   map[named]answer                 // the methods of types
	child   *bounded.Child[question, answer] // once it was started
	untyped string                           // why types are unknown
}

// layout is where the packages of a commit are.
type layout struct {
	dirs    map[string][]string // the Go files that the tools would use, by directory
	modules map[string]string   // module paths, by directory
}

func newLayout() layout { return layout{map[string][]string{}, map[string]string{}} }

// named is a type by its directory and name.
type named struct{ dir, name string }

// most bounds how much is read for one program, in bytes.
const most = 4 << 20

// New returns a program without files; set Read before use.
func New() *Program {
	return &Program{layout: newLayout(), texts: map[string][]byte{}, left: most, checked: map[string]bool{}, refs: map[string][]Ref{},
		missing: map[string][]Missing{}, news: noNews(), told: map[string]bool{}, typed: map[named]answer{}}
}

func noNews() question {
	return question{Modules: map[string]string{}, Dirs: map[string][]string{}, Texts: map[string][]byte{}}
}

// Files adds files of the commit.
func (p *Program) Files(paths []string) {
	for _, name := range paths {
		switch dir, file := path.Split(name); {
		case file == "go.mod" && !strings.Contains("/"+dir, "/testdata/"): // a module there may claim any path, and go builds none
			p.mods = append(p.mods, name)
		case strings.HasSuffix(file, ".go") && !strings.HasPrefix(file, "_") && !strings.HasPrefix(file, "."):
			p.dirs[path.Clean(dir)] = append(p.dirs[path.Clean(dir)], name)
		}
	}
}

// Start starts the child that checks types, which takes some 20 ms. Check does so if it was not called; called earlier,
// it saves that time. The child is killed when ctx ends.
func (p *Program) Start(ctx context.Context) {
	if p.child != nil || p.untyped != "" {
		return
	}
	var err error
	if p.child, err = Task.Start(ctx, bounded.Bounds{
		Time:   cmp.Or(p.Bounds.Time, maxTime),
		Memory: cmp.Or(p.Bounds.Memory, maxMemory),
	}); err != nil {
		p.untyped = fmt.Sprintf("failed (%v)", err)
	}
}

// Close ends the child.
func (p *Program) Close() {
	if p.child != nil {
		p.child.End()
		p.child, p.untyped = nil, "is over"
	}
}

// ask returns the answer to a question. It is empty if types are unknown; then everything that was told before is
// forgotten, so that a sheet has no types of some files alone.
func (p *Program) ask(q question) answer {
	if p.child == nil {
		return answer{}
	}
	q.Modules, q.Dirs, q.Texts = p.news.Modules, p.news.Dirs, p.news.Texts
	if p.news = noNews(); len(q.Texts) > 0 {
		clear(p.typed)
	}
	a, err := p.child.Ask(q)
	if err != nil {
		p.untyped = p.child.End()
		p.child = nil
		clear(p.refs)
		clear(p.missing)
		clear(p.typed)
		return answer{}
	}
	return a
}

// Untyped returns why types are unknown, as what became of determining them, such as "took longer than 20s"; empty if they
// are known.
func (p *Program) Untyped() string { return p.untyped }

// Passed returns how many files were skipped because there were too many.
func (p *Program) Passed() int { return p.passed }

// Modules returns how many modules of the repository are known after the first Check: without any, imports
// between its packages cannot be resolved.
func (p *Program) Modules() int { return len(p.modules) }

// maxModules bounds the distinguished modules of one repository.
const maxModules = 200

// Check resolves the names in some files. Types that cannot be determined within the bounds are no error; see Untyped.
func (p *Program) Check(ctx context.Context, paths []string) error {
	wanted, dirs := map[string]bool{}, map[string]bool{}
	for _, name := range paths {
		wanted[name], dirs[path.Dir(name)] = true, true
	}
	byDir := map[string][]string{}
	for dir := range dirs {
		for _, name := range p.dirs[dir] {
			if wanted[name] && !p.checked[name] {
				p.checked[name] = true
				byDir[dir] = append(byDir[dir], name)
			}
		}
	}
	if err := p.load(slices.Collect(maps.Keys(byDir))); err != nil {
		return err
	}
	for dir, names := range byDir {
		p.Start(ctx)
		a := p.ask(question{Dir: dir, Files: names})
		maps.Copy(p.refs, a.unpack())
		maps.Copy(p.missing, a.Missing)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Text resolves the names in other versions of some files of one directory.
func (p *Program) Text(ctx context.Context, dir string, texts map[string][]byte) (map[string][]Ref, error) {
	if err := p.load([]string{dir}); err != nil {
		return nil, err
	}
	p.Start(ctx)
	return p.ask(question{Dir: dir, Others: texts}).unpack(), ctx.Err()
}

// Methods returns the method names of a type, in the loaded package of a directory; asked says that the type
// is an interface.
func (p *Program) Methods(dir, name string) (names []string, asked bool) {
	a, known := p.typed[named{dir, name}]
	if !known && name != "" {
		a = p.ask(question{Dir: dir, Type: name})
		p.typed[named{dir, name}] = a
	}
	return a.Methods, a.IsInterface
}

// Refs returns the references found in a file, ordered by their lines; ok is false if the file was not checked.
func (p *Program) Refs(name string) (refs []Ref, ok bool) {
	refs, ok = p.refs[name]
	return refs, ok
}

// Missing returns the names in a file that was checked, and is no test, which no file of the package that they name
// defines.
func (p *Program) Missing(name string) []Missing { return p.missing[name] }

// Source returns the text of a file that was read; nil for other files.
func (p *Program) Source(name string) []byte { return p.texts[name] }

// load reads the packages in some directories and those that they import, within the limit; of their tests only the files to
// be checked.
func (p *Program) load(next []string) error {
	err := p.Read(p.mods[:min(len(p.mods), maxModules)], func(name string, text []byte) {
		if declared := modfile.ModulePath(text); module.CheckImportPath(declared) == nil {
			p.modules[path.Dir(name)], p.news.Modules[path.Dir(name)] = declared, declared
		}
	})
	if p.mods = nil; err != nil {
		return err
	}
	seen := map[string]bool{}
	for depth := 0; len(next) > 0 && depth < 4; depth++ {
		var wanted []string
		for _, dir := range next {
			seen[dir] = true
			if !p.told[dir] {
				p.told[dir], p.news.Dirs[dir] = true, p.dirs[dir]
			}
			for _, name := range p.dirs[dir] {
				if _, read := p.texts[name]; !read && (!strings.HasSuffix(name, "_test.go") || p.checked[name]) {
					wanted = append(wanted, name)
				}
			}
		}
		slices.Sort(wanted)
		err := p.Read(wanted, func(name string, text []byte) {
			if p.left -= len(text); p.left < 0 || text == nil {
				p.texts[name] = nil
				p.passed++
				return
			}
			p.texts[name] = slices.Clone(text)
			p.news.Texts[name] = p.texts[name]
		})
		if err != nil {
			return err
		}
		var further []string
		for _, dir := range next {
			for _, name := range p.dirs[dir] {
				for _, imported := range p.imports(p.texts[name]) {
					if !seen[imported] {
						seen[imported] = true
						further = append(further, imported)
					}
				}
			}
		}
		next = further
	}
	return nil
}

// imports returns the directories of this repository that a file imports. What does not parse is missing.
func (p *Program) imports(text []byte) (dirs []string) {
	file, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	for _, s := range file.Imports {
		if dir, ok := p.dir(strings.Trim(s.Path.Value, "`\"")); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// dir returns the directory of an imported package, if it is in this repository.
func (l layout) dir(imported string) (string, bool) {
	for root, module := range l.modules {
		if rest, ok := strings.CutPrefix(imported, module); ok && (rest == "" || rest[0] == '/') {
			if dir := path.Join(root, rest); l.dirs[dir] != nil {
				return dir, true
			}
		}
	}
	return "", false
}
