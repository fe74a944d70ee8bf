package golang

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Definition is the position of a definition.
type Definition struct {
	Path string
	Line int
}

// Ref is a name in a file that refers to something of this repository: a field, a method, or a definition at
// package level.
type Ref struct {
	Name string
	Line int
	// Of is the position of the definition.
	Of Definition
	// Field says that the name is a field, Written that it is assigned to there.
	Field, Written bool
	// Interface is the type to which the method belongs, if that is an interface; Methods are all methods of
	// the interface.
	Interface string
	Methods   []string
}

// position returns the position of something in its file, whatever line directives say.
func (p *Program) position(at token.Pos) token.Position { return p.set.PositionFor(at, false) }

// read collects the references of a file.
func (p *Program) read(file *ast.File, info *types.Info) []Ref {
	written := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				target(e, written)
			}
		case *ast.IncDecStmt:
			target(n.X, written)
		case *ast.RangeStmt:
			target(n.Key, written)
			target(n.Value, written)
		case *ast.UnaryExpr:
			if n.Op == token.AND { // code with the address can write the field
				target(n.X, written)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && emptying[name.Name] && len(n.Args) > 0 {
				target(n.Args[0], written)
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					target(pair.Key, written)
				}
			}
		}
		return true
	})
	var refs []Ref
	ast.Inspect(file, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if ref, ok := p.ref(name, info.Uses[name]); ok {
			ref.Written = written[name]
			refs = append(refs, ref)
		}
		return true
	})
	return refs
}

// emptying are the built-in functions that write to their first argument.
var emptying = map[string]bool{"delete": true, "clear": true, "copy": true}

// target records the field that an assignment writes, or writes into.
func target(e ast.Expr, written map[*ast.Ident]bool) {
	switch e := e.(type) {
	case *ast.Ident:
		written[e] = true
	case *ast.SelectorExpr:
		written[e.Sel] = true
	case *ast.IndexExpr:
		target(e.X, written)
	case *ast.ParenExpr:
		target(e.X, written)
	case *ast.StarExpr:
		target(e.X, written)
	}
}

// ref returns the meaning of a name, if it is something of this repository and not a local.
func (p *Program) ref(name *ast.Ident, object types.Object) (Ref, bool) {
	r := Ref{Name: name.Name, Line: p.position(name.Pos()).Line}
	switch o := object.(type) {
	case *types.Var:
		r.Field = o.IsField()
		if !r.Field && !global(o) {
			return r, false
		}
	case *types.Func:
		receiver := o.Signature().Recv()
		if receiver == nil {
			break
		}
		if asked, ok := receiver.Type().Underlying().(*types.Interface); ok {
			r.Interface = types.TypeString(receiver.Type(), func(*types.Package) string { return "" })
			for m := range asked.Methods() {
				r.Methods = append(r.Methods, m.Name())
			}
		}
	case *types.TypeName, *types.Const:
		if !global(o) {
			return r, false
		}
	default:
		return r, false
	}
	at := p.position(object.Pos())
	r.Of = Definition{at.Filename, at.Line}
	return r, at.IsValid()
}

// global reports whether an object is defined at package level, and not in a function.
func global(o types.Object) bool { return o.Pkg() != nil && o.Parent() == o.Pkg().Scope() }
