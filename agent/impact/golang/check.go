package golang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// checker runs go/types on what was read of a commit. Nothing can interrupt go/types, and a few lines can make it use
// any amount of time and memory: a checker runs in a child, see [Task].
type checker struct {
	layout
	texts  map[string][]byte
	set    *token.FileSet
	decls  map[string]*types.Package // by directory, without function bodies
	scopes map[string]*types.Scope   // what packages define, by directory; nothing where that is not all known
}

func newChecker() *checker {
	return &checker{layout: newLayout(), texts: map[string][]byte{}, set: token.NewFileSet(), decls: map[string]*types.Package{},
		scopes: map[string]*types.Scope{}}
}

// Import returns a package of the repository with its declarations, and only the name of any other package.
// It is the types.Importer of the checked files.
func (c *checker) Import(imported string) (*types.Package, error) {
	dir, ok := c.dir(imported)
	if !ok {
		return nothing(imported), nil
	}
	return c.declared(dir, imported), nil
}

// declared returns a package of the repository with its declarations.
func (c *checker) declared(dir, imported string) *types.Package {
	if pkg := c.decls[dir]; pkg != nil {
		return pkg
	}
	var files []*ast.File
	for _, name := range c.dirs[dir] {
		if text := c.texts[name]; text != nil && !strings.HasSuffix(name, "_test.go") {
			files = append(files, c.declarations(name, text))
		}
	}
	if len(files) == 0 {
		return nothing(imported)
	}
	c.decls[dir] = nothing(imported) // for import cycles, which do not compile
	pkg := c.typed(imported, files, nil)
	c.decls[dir] = pkg
	return pkg
}

// nothing returns an empty package, with the name that its path suggests.
func nothing(imported string) *types.Package {
	pkg := types.NewPackage(imported, PackageName(imported))
	pkg.MarkComplete()
	return pkg
}

// PackageName returns the name that the path of a package suggests.
func PackageName(imported string) string {
	name := path.Base(imported)
	version, ok := strings.CutPrefix(name, "v")
	if dir := path.Dir(imported); ok && version != "" && strings.Trim(version, "0123456789") == "" && dir != "." {
		name = path.Base(dir)
	}
	return strings.TrimPrefix(name, "go-")
}

// parse parses a file; ok is false if parts do not parse, which are missing in the result.
func (c *checker) parse(name string, text []byte) (file *ast.File, ok bool) {
	file, err := parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
	return file, err == nil
}

// declarations parses a file without its function bodies. It keeps them in a file that does not parse without them: a raw
// string can have a line that looks like the end of a function.
func (c *checker) declarations(name string, text []byte) *ast.File {
	file, ok := c.parse(name, bodiless(text))
	if !ok {
		file, _ = c.parse(name, text)
	}
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

// methods returns the method names of a type in the package of a directory; isInterface says that the type is an
// interface.
func (c *checker) methods(dir, name string) (names []string, isInterface bool) {
	object := c.declared(dir, dir).Scope().Lookup(name)
	if object == nil {
		return nil, false
	}
	t := object.Type()
	if isInterface = types.IsInterface(t); !isInterface {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		names = append(names, m.Obj().Name())
	}
	return names, isInterface
}

// check checks the package in a directory with these texts of its files, bodies included, and resolves their
// names.
func (c *checker) check(dir string, texts map[string][]byte) (all map[string][]Ref, missing map[string][]Missing) {
	all, missing = map[string][]Ref{}, map[string][]Missing{}
	packages := map[string][]*ast.File{}
	for _, name := range c.dirs[dir] {
		var file *ast.File
		switch text, wanted := texts[name]; {
		case wanted && text != nil:
			file, _ = c.parse(name, text)
		case !wanted && len(c.texts[name]) > 0:
			file = c.declarations(name, c.texts[name])
		default:
			continue
		}
		packages[file.Name.Name] = append(packages[file.Name.Name], file)
	}
	for name, files := range packages {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		c.typed(dir+"."+name, files, info)
		r := reader{set: c.set, info: info, interfaces: map[types.Type]asked{}}
		for _, file := range files {
			path := r.position(file.Package).Filename
			if _, wanted := texts[path]; wanted {
				all[path] = r.read(file)
				if names := c.missing(file, info); names != nil && !strings.HasSuffix(path, "_test.go") { // tests may export what is private
					missing[path] = names
				}
			}
		}
	}
	return all, missing
}

// typed checks files as one package, even if they have errors.
func (c *checker) typed(name string, files []*ast.File, info *types.Info) (pkg *types.Package) {
	config := types.Config{Importer: c, Error: func(error) {}, DisableUnusedImportCheck: true, FakeImportC: true,
		IgnoreFuncBodies: info == nil}
	pkg = types.NewPackage(name, "")
	defer func() {
		if trouble := recover(); trouble != nil { // the files confused the type checker
			pkg = nothing(name)
		}
	}()
	_ = types.NewChecker(&config, c.set, pkg, info).Files(files)
	pkg.MarkComplete()
	return pkg
}
