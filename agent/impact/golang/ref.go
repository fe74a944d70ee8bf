package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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

// reader collects the references in the files of a package that was checked.
type reader struct {
	set        *token.FileSet
	info       *types.Info
	interfaces map[types.Type]asked
}

// asked is the name of an interface, and its methods.
type asked struct {
	name    string
	methods []string
}

// position returns the position of something in its file, whatever line directives say.
func (r reader) position(at token.Pos) token.Position { return r.set.PositionFor(at, false) }

// read collects the references of a file, ordered by their lines.
func (r reader) read(file *ast.File) []Ref {
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
		if ref, ok := r.ref(name, r.info.Uses[name]); ok {
			ref.Written = written[name]
			refs = append(refs, ref)
		}
		return true
	})
	slices.SortStableFunc(refs, func(a, b Ref) int { return a.Line - b.Line })
	return refs
}

// emptying are the built-in functions that write to their first argument.
var emptying = map[string]bool{"delete": true, "clear": true, "copy": true}

// target records the field that an assignment writes, or writes into.
func target(e ast.Expr, written map[*ast.Ident]bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		written[e] = true
	case *ast.SelectorExpr:
		written[e.Sel] = true
	case *ast.IndexExpr:
		target(e.X, written)
	case *ast.StarExpr:
		target(e.X, written)
	}
}

// ref returns the meaning of a name, if it is something of this repository and not a local.
func (r reader) ref(name *ast.Ident, object types.Object) (Ref, bool) {
	ref := Ref{Name: name.Name, Line: r.position(name.Pos()).Line}
	switch o := object.(type) {
	case *types.Var:
		ref.Field = o.IsField()
		if !ref.Field && !global(o) {
			return ref, false
		}
	case *types.Func:
		if receiver := o.Signature().Recv(); receiver != nil {
			a := r.asked(receiver.Type())
			ref.Interface, ref.Methods = a.name, a.methods
		}
	case *types.TypeName, *types.Const:
		if !global(o) {
			return ref, false
		}
	default:
		return ref, false
	}
	at := r.position(object.Pos())
	ref.Of = Definition{at.Filename, at.Line}
	return ref, at.IsValid()
}

// asked describes a type if it is an interface. It does so once, for all references to its methods.
func (r reader) asked(t types.Type) asked {
	methods, ok := t.Underlying().(*types.Interface)
	if !ok {
		return asked{}
	}
	a, known := r.interfaces[t]
	if !known {
		a.name = types.TypeString(t, func(*types.Package) string { return "" })
		for m := range methods.Methods() {
			a.methods = append(a.methods, m.Name())
		}
		r.interfaces[t] = a
	}
	return a
}

// global reports whether an object is defined at package level, and not in a function.
func global(o types.Object) bool { return o.Pkg() != nil && o.Parent() == o.Pkg().Scope() }
