package guardtest

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
)

func goSpellings() []Spelling {
	of := func(name string, rewrite func(*ast.File)) Spelling {
		return Spelling{name, func(file string, text []byte) []byte {
			if ext(file) != ".go" {
				return nil
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file, text, parser.ParseComments)
			if err != nil {
				return nil
			}
			rewrite(tree)
			var b bytes.Buffer
			if format.Node(&b, fset, tree) != nil {
				return nil
			}
			return b.Bytes()
		}}
	}
	return []Spelling{
		of("Go formatted", func(*ast.File) {}),
		of("Go with other names of variables", renameLocals),
		of("Go with conditions in brackets", func(f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.IfStmt); ok {
					if _, already := s.Cond.(*ast.ParenExpr); !already {
						s.Cond = &ast.ParenExpr{Lparen: s.Cond.Pos(), X: s.Cond, Rparen: s.Cond.End()}
					}
				}
				return true
			})
		}),
		over("Go with blanks for tabs", []string{".go"}, func(text string) string {
			if strings.Contains(text, "`") {
				return text
			}
			return strings.ReplaceAll(text, "\t", "    ")
		}),
	}
}

// renameLocals renames what functions declare: variables, parameters and results. The
// parser itself resolves them, within one file.
func renameLocals(f *ast.File) {
	locals := map[*ast.Object]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		var body ast.Node
		switch n := n.(type) {
		case *ast.FuncDecl:
			body = n
		case *ast.FuncLit:
			body = n
		default:
			return true
		}
		ast.Inspect(body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if ok && id.Obj != nil && id.Obj.Kind == ast.Var && id.Obj.Pos() >= body.Pos() && id.Obj.Pos() < body.End() && id.Name != "_" {
				if _, field := id.Obj.Decl.(*ast.Field); !field || within(body, id.Obj) {
					locals[id.Obj] = true
				}
			}
			return true
		})
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && locals[id.Obj] && id.Obj != nil {
			id.Name += "Value"
		}
		return true
	})
}

// within reports whether an object is a parameter or result, and no field of a struct.
func within(body ast.Node, object *ast.Object) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		var list []*ast.FieldList
		switch n := n.(type) {
		case *ast.FuncDecl:
			list = []*ast.FieldList{n.Recv, n.Type.Params, n.Type.Results}
		case *ast.FuncLit:
			list = []*ast.FieldList{n.Type.Params, n.Type.Results}
		}
		for _, l := range list {
			if l != nil && l.Pos() <= object.Pos() && object.Pos() < l.End() {
				found = true
			}
		}
		return true
	})
	return found
}
