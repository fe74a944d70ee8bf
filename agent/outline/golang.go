package outline

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// ofGo parses a Go file. ok is false if the file does not parse: otherwise the definitions before an error
// would be listed, and those after it missing.
func ofGo(text []byte) (blocks []Block, ok bool) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	g := goFile{line: func(p token.Pos) int { return set.PositionFor(p, false).Line }}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			g.general(d)
		}
	}
	return g.blocks, true
}

type goFile struct {
	line   func(token.Pos) int
	blocks []Block
}

func (g *goFile) add(kind, name, in string, node ast.Node, body token.Pos) {
	if name == "_" {
		return
	}
	b := Block{Kind: kind, Name: name, In: in, Start: g.line(node.Pos()), End: g.line(node.End())}
	b.Body = b.End
	if body.IsValid() {
		b.Body = g.line(body)
	}
	g.blocks = append(g.blocks, b)
}

func (g *goFile) function(d *ast.FuncDecl) {
	body := token.NoPos
	if d.Body != nil {
		body = d.Body.Lbrace
	}
	kind, in := "func", ""
	if d.Recv != nil && len(d.Recv.List) > 0 {
		kind, in = "method", typeName(d.Recv.List[0].Type)
	}
	g.add(kind, d.Name.Name, in, d, body)
}

func (g *goFile) general(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			g.add("type", s.Name.Name, "", s, s.Type.Pos())
			g.members(s.Name.Name, s.Type)
		case *ast.ValueSpec:
			kind := "var"
			if d.Tok == token.CONST {
				kind = "const"
			}
			for _, name := range s.Names {
				g.add(kind, name.Name, "", s, token.NoPos)
			}
		}
	}
}

// members adds the fields of a struct and the methods of an interface.
func (g *goFile) members(in string, t ast.Expr) {
	switch t := t.(type) {
	case *ast.StructType:
		g.each("field", in, t.Fields)
	case *ast.InterfaceType:
		g.each("method", in, t.Methods)
	}
}

func (g *goFile) each(kind, in string, list *ast.FieldList) {
	for _, f := range list.List {
		for _, name := range f.Names { // embedded fields have no names
			g.add(kind, name.Name, in, f, token.NoPos)
		}
	}
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
