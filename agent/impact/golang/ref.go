package golang

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Definition is where something is defined.
type Definition struct {
	Path string
	Line int
}

// Ref is a name in a file that means something of this repository: a field, a method, or what a
// package defines.
type Ref struct {
	Name string
	Line int
	// Of is where that is defined.
	Of Definition
	// Field says that it is a field, Written that the field gets a value there.
	Field, Written bool
	// Interface is the type that it belongs to where that is an interface, Methods all that this
	// one asks for.
	Interface string
	Methods   []string
}

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
			if n.Op == token.AND { // who has its address can write it
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

// emptying are the functions of the language that write into their first argument.
var emptying = map[string]bool{"delete": true, "clear": true, "copy": true}

// target notes the field that an assignment writes, or writes into.
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

// ref is what a name means, where that is something of this repository and not a local.
func (p *Program) ref(name *ast.Ident, object types.Object) (Ref, bool) {
	r := Ref{Name: name.Name, Line: p.set.Position(name.Pos()).Line}
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
	at := p.set.Position(object.Pos())
	r.Of = Definition{at.Filename, at.Line}
	return r, at.IsValid()
}

// global reports whether a package defines something, and no function.
func global(o types.Object) bool { return o.Pkg() != nil && o.Parent() == o.Pkg().Scope() }
