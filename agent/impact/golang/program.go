// Package golang owns what types tell of a commit's Go files: which definition a name of a
// field or a method means. It parses and checks the repository's own sources with go/parser and
// go/types and nothing else: no build tool, no module of others, nothing of the standard library
// and nothing of the commit is loaded or run. What depends on those has no type, so that each
// answer is either certain or missing.
//
// It stores nothing.
package golang

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Program is a commit as far as it was read.
type Program struct {
	// Read reads files of the commit by their paths, and gives each to take, which must not keep
	// it; nil for one that is too large.
	Read func(paths []string, take func(path string, text []byte)) error

	dirs    map[string][]string // the Go files of each directory that the tools would see
	modules map[string]string   // module paths, by their directories
	known   bool                // modules were read
	mods    []string            // the go.mod files
	texts   map[string][]byte   // what was read
	left    int                 // bytes that may still be read
	set     *token.FileSet
	decls   map[string]*types.Package // by their directories, without the bodies of functions
	checked map[string]bool           // files whose refs are known
	refs    map[string][]Ref
	passed  int // files that were not read for their number
}

// most bounds what is read for one program, in bytes.
const most = 4 << 20

// New is a program of a commit's files; Read has to be set.
func New(paths []string) *Program {
	p := &Program{
		dirs: map[string][]string{}, modules: map[string]string{}, texts: map[string][]byte{}, left: most, set: token.NewFileSet(),
		decls: map[string]*types.Package{}, checked: map[string]bool{}, refs: map[string][]Ref{},
	}
	for _, name := range paths {
		switch dir, file := path.Split(name); {
		case file == "go.mod":
			p.mods = append(p.mods, name)
		case strings.HasSuffix(file, ".go") && !strings.HasPrefix(file, "_") && !strings.HasPrefix(file, "."):
			p.dirs[path.Clean(dir)] = append(p.dirs[path.Clean(dir)], name)
		}
	}
	return p
}

// Passed is how many files were not looked at for their number.
func (p *Program) Passed() int { return p.passed }

// Modules is how many modules of the repository are known, after the first Check: without one
// nothing tells which packages its files import from each other.
func (p *Program) Modules() int { return len(p.modules) }

// maxModules bounds the modules of one repository that are told apart.
const maxModules = 200

// Check finds what the names in some files mean.
func (p *Program) Check(ctx context.Context, paths []string) error {
	byDir := map[string][]string{}
	for _, name := range paths {
		if dir := path.Dir(name); !p.checked[name] && slices.Contains(p.dirs[dir], name) {
			p.checked[name] = true
			byDir[dir] = append(byDir[dir], name)
		}
	}
	if err := p.load(byDir); err != nil {
		return err
	}
	for dir, names := range byDir {
		texts := map[string][]byte{}
		for _, name := range names {
			texts[name] = p.texts[name]
		}
		for name, refs := range p.check(dir, texts) {
			p.refs[name] = refs
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Text finds what the names in other texts of some files of one directory mean.
func (p *Program) Text(dir string, texts map[string][]byte) (map[string][]Ref, error) {
	if err := p.load(map[string][]string{dir: nil}); err != nil {
		return nil, err
	}
	return p.check(dir, texts), nil
}

// Refs are what was found of a file; ok is false where it was not checked.
func (p *Program) Refs(name string) (refs []Ref, ok bool) {
	refs, ok = p.refs[name]
	return refs, ok
}

// load reads the packages in some directories, and those that they import, as far as there is room.
func (p *Program) load(byDir map[string][]string) error {
	if !p.known {
		p.known = true
		err := p.Read(p.mods[:min(len(p.mods), maxModules)], func(name string, text []byte) {
			if declared := modfile.ModulePath(text); module.CheckImportPath(declared) == nil {
				p.modules[path.Dir(name)] = declared
			}
		})
		if err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	next := make([]string, 0, len(byDir))
	for dir := range byDir {
		next = append(next, dir)
	}
	for depth := 0; len(next) > 0 && depth < 4; depth++ {
		var wanted []string
		for _, dir := range next {
			seen[dir] = true
			for _, name := range p.dirs[dir] {
				if _, read := p.texts[name]; !read && (!strings.HasSuffix(name, "_test.go") || slices.Contains(byDir[dir], name)) {
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

// imports are the directories of this repository that a file imports.
func (p *Program) imports(text []byte) (dirs []string) {
	if text == nil {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if file == nil || err != nil && len(file.Imports) == 0 {
		return nil
	}
	for _, s := range file.Imports {
		if dir, ok := p.dir(strings.Trim(s.Path.Value, "`\"")); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// dir is the directory of an imported package, where it is one of this repository.
func (p *Program) dir(imported string) (string, bool) {
	for root, module := range p.modules {
		if rest, ok := strings.CutPrefix(imported, module); ok && (rest == "" || rest[0] == '/') {
			if dir := path.Join(root, rest); p.dirs[dir] != nil {
				return dir, true
			}
		}
	}
	return "", false
}

// Import gives a package of the repository by its declarations, and of any other one nothing
// but its name. It is the types.Importer of what is checked.
func (p *Program) Import(imported string) (*types.Package, error) {
	dir, ok := p.dir(imported)
	if !ok {
		return nothing(imported), nil
	}
	return p.declared(dir, imported), nil
}

// declared is a package of the repository by its declarations.
func (p *Program) declared(dir, imported string) *types.Package {
	if pkg := p.decls[dir]; pkg != nil {
		return pkg
	}
	p.decls[dir] = nothing(imported) // for those that import each other, which does not compile
	var files []*ast.File
	for _, name := range p.dirs[dir] {
		if text := p.texts[name]; text != nil && !strings.HasSuffix(name, "_test.go") {
			files = append(files, p.parse(name, bodiless(text)))
		}
	}
	pkg := p.typed(imported, files, nil)
	p.decls[dir] = pkg
	return pkg
}

// Methods are the names of the methods of a type, in the package of a directory that was loaded;
// asked says that it is an interface.
func (p *Program) Methods(dir, name string) (names []string, asked bool) {
	object := p.declared(dir, dir).Scope().Lookup(name)
	if object == nil {
		return nil, false
	}
	t := object.Type()
	if asked = types.IsInterface(t); !asked {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		names = append(names, m.Obj().Name())
	}
	return names, asked
}

// Source is the text of a file that was read; nil for another one.
func (p *Program) Source(name string) []byte { return p.texts[name] }

func nothing(imported string) *types.Package {
	name := path.Base(imported)
	if version := strings.TrimLeft(name, "v0123456789"); version == "" && strings.Contains(imported, "/") {
		name = path.Base(path.Dir(imported))
	}
	pkg := types.NewPackage(imported, strings.TrimPrefix(name, "go-"))
	pkg.MarkComplete()
	return pkg
}

// parse reads a file; what does not parse is missing of it.
func (p *Program) parse(name string, text []byte) *ast.File {
	file, _ := parser.ParseFile(p.set, name, text, parser.SkipObjectResolution)
	return file
}

// bodiless is a file without the bodies of its functions, with as many lines. It relies on how
// gofmt writes them; what is written otherwise stays.
func bodiless(text []byte) []byte {
	out := make([]byte, 0, len(text)/2)
	within := false
	for line := range bytes.Lines(text) {
		switch {
		case within && line[0] == '}':
			within = false
			out = append(out, line...)
		case within:
			out = append(out, '\n')
		default:
			within = bytes.HasPrefix(line, []byte("func ")) && bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n"), []byte("{"))
			out = append(out, line...)
		}
	}
	return out
}

// check checks the package in a directory with these texts of its files, the bodies of which
// count, and tells what their names mean.
func (p *Program) check(dir string, texts map[string][]byte) map[string][]Ref {
	all := map[string][]Ref{}
	packages := map[string][]*ast.File{}
	for _, name := range p.dirs[dir] {
		text, wanted := texts[name]
		switch {
		case wanted && text == nil:
			continue
		case !wanted:
			if text = bodiless(p.texts[name]); len(text) == 0 {
				continue
			}
		}
		if file := p.parse(name, text); file != nil && file.Name != nil {
			packages[file.Name.Name] = append(packages[file.Name.Name], file)
		}
	}
	for name, files := range packages {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		p.typed(dir+"."+name, files, info)
		for _, file := range files {
			path := p.set.Position(file.Package).Filename
			if _, wanted := texts[path]; wanted {
				all[path] = p.read(file, info)
			}
		}
	}
	return all
}

// typed checks files as one package, also files with errors.
func (p *Program) typed(name string, files []*ast.File, info *types.Info) (pkg *types.Package) {
	config := types.Config{Importer: p, Error: func(error) {}, DisableUnusedImportCheck: true, FakeImportC: true,
		IgnoreFuncBodies: info == nil}
	pkg = types.NewPackage(name, "")
	defer func() {
		if trouble := recover(); trouble != nil { // of a checker that the files confuse
			pkg = nothing(name)
		}
	}()
	_ = types.NewChecker(&config, p.set, pkg, info).Files(files)
	pkg.MarkComplete()
	return pkg
}
