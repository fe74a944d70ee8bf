package golang

import (
	"go/ast"
	"go/types"
	"path"
	"strings"

	"touchstone/worktree/filekind"
)

// Missing is a name in a file, with a package of this repository before its dot that defines no such name.
type Missing struct {
	Package, Name string // as in the file: errors, New
	Line          int
	Dir           string // the directory of the package
}

// missing returns the names in a file that their packages lack, in the order of the file.
func (c *checker) missing(file *ast.File, info *types.Info) (all []Missing) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := s.X.(*ast.Ident)
		pkg, ok := info.Uses[of].(*types.PkgName)
		if !ok || s.Sel.Name == "_" || pkg.Imported().Scope().Lookup(s.Sel.Name) != nil { // no name after the dot is parsed as _
			return true
		}
		if dir, ok := c.only(pkg.Imported().Path()); ok && c.lacks(dir, s.Sel.Name) {
			all = append(all, Missing{of.Name, s.Sel.Name, c.set.PositionFor(s.Sel.Pos(), false).Line, dir})
		}
		return true
	})
	return all
}

// only returns the directory of an imported package, if the modules of this repository allow no other: there are copies of
// modules in examples and in the data of tests.
func (c *checker) only(imported string) (dir string, ok bool) {
	for root, module := range c.modules {
		if rest, within := strings.CutPrefix(imported, module); within && (rest == "" || rest[0] == '/') {
			at := path.Join(root, rest)
			if ok && at != dir {
				return "", false
			}
			dir, ok = at, true
		}
	}
	return dir, ok && !filekind.InTests(dir+"/")
}

// lacks reports whether the files of a package were all read, parse as one package, and do not define a name.
func (c *checker) lacks(dir, name string) bool {
	scope, known := c.scopes[dir]
	if !known {
		scope = c.scope(dir)
		c.scopes[dir] = scope
	}
	return scope.Len() > 0 && scope.Lookup(name) == nil
}

// scope returns what a package defines; nothing if that is not all known. Unlike declared it relies on no layout of the
// files.
func (c *checker) scope(dir string) *types.Scope {
	var files []*ast.File
	for _, name := range c.dirs[dir] {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, ok := c.parse(name, c.texts[name])
		if files = append(files, file); !ok || file.Name.Name != files[0].Name.Name {
			return nothing(dir).Scope()
		}
	}
	return c.typed(dir, files, nil).Scope()
}
