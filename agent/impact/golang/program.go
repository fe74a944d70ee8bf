// Package golang resolves names in a commit's Go files by their types: to which definition the name of a
// field or a method refers. It parses and checks only the repository's own sources, with go/parser and
// go/types: it loads and runs no build tool, no other module, nothing of the standard library and nothing of
// the commit. Expressions that depend on those have no type, so each answer is either certain or missing.
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
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Program is the part of a commit that was read.
type Program struct {
	// Read reads files of the commit by path and passes each text to take, which must not keep it; the text
	// is nil for a file that is too large.
	Read func(paths []string, take func(path string, text []byte)) error

	dirs    map[string][]string // the Go files that the tools would use, by directory
	modules map[string]string   // module paths, by directory
	known   bool                // modules were read
	mods    []string            // the go.mod files
	texts   map[string][]byte   // the files that were read
	left    int                 // the number of bytes that may still be read
	set     *token.FileSet
	decls   map[string]*types.Package // by directory, without function bodies
	checked map[string]bool           // files whose refs are known
	refs    map[string][]Ref
	passed  int // files that were not read because there were too many
}

// most bounds how much is read for one program, in bytes.
const most = 4 << 20

// New returns a program of a commit's files; set Read before use.
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

// Passed returns how many files were skipped because there were too many.
func (p *Program) Passed() int { return p.passed }

// Modules returns how many modules of the repository are known after the first Check: without any, imports
// between its packages cannot be resolved.
func (p *Program) Modules() int { return len(p.modules) }

// maxModules bounds the distinguished modules of one repository.
const maxModules = 200

// Check resolves the names in some files.
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
		maps.Copy(p.refs, p.check(dir, texts))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Text resolves the names in other versions of some files of one directory.
func (p *Program) Text(dir string, texts map[string][]byte) (map[string][]Ref, error) {
	if err := p.load(map[string][]string{dir: nil}); err != nil {
		return nil, err
	}
	return p.check(dir, texts), nil
}

// Refs returns the references found in a file; ok is false if the file was not checked.
func (p *Program) Refs(name string) (refs []Ref, ok bool) {
	refs, ok = p.refs[name]
	return refs, ok
}

// load reads the packages in some directories and those that they import, within the limit.
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
	next := slices.Collect(maps.Keys(byDir))
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

// imports returns the directories of this repository that a file imports.
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

// dir returns the directory of an imported package, if it is in this repository.
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

// Import returns a package of the repository with its declarations, and only the name of any other package.
// It is the types.Importer of the checked files.
func (p *Program) Import(imported string) (*types.Package, error) {
	dir, ok := p.dir(imported)
	if !ok {
		return nothing(imported), nil
	}
	return p.declared(dir, imported), nil
}

// declared returns a package of the repository with its declarations.
func (p *Program) declared(dir, imported string) *types.Package {
	if pkg := p.decls[dir]; pkg != nil {
		return pkg
	}
	p.decls[dir] = nothing(imported) // for import cycles, which do not compile
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

// Methods returns the method names of a type, in the loaded package of a directory; asked says that the type
// is an interface.
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

// Source returns the text of a file that was read; nil for other files.
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

// parse parses a file; parts that do not parse are missing in the result.
func (p *Program) parse(name string, text []byte) *ast.File {
	file, _ := parser.ParseFile(p.set, name, text, parser.SkipObjectResolution)
	return file
}

// bodiless removes the function bodies from a file and keeps the number of lines. It relies on gofmt's
// layout; functions in another layout stay.
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

// check checks the package in a directory with these texts of its files, bodies included, and resolves their
// names.
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
			path := p.position(file.Package).Filename
			if _, wanted := texts[path]; wanted {
				all[path] = p.read(file, info)
			}
		}
	}
	return all
}

// typed checks files as one package, even if they have errors.
func (p *Program) typed(name string, files []*ast.File, info *types.Info) (pkg *types.Package) {
	config := types.Config{Importer: p, Error: func(error) {}, DisableUnusedImportCheck: true, FakeImportC: true,
		IgnoreFuncBodies: info == nil}
	pkg = types.NewPackage(name, "")
	defer func() {
		if trouble := recover(); trouble != nil { // the files confused the type checker
			pkg = nothing(name)
		}
	}()
	_ = types.NewChecker(&config, p.set, pkg, info).Files(files)
	pkg.MarkComplete()
	return pkg
}
