package guardtest

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

func goSpellings() []Spelling {
	of := func(name string, rewrite func(*token.FileSet, *ast.File)) Spelling {
		return Spelling{name, []string{".go"}, func(file string, text []byte) []byte {
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file, text, parser.ParseComments)
			if err != nil {
				return nil
			}
			rewrite(fset, tree)
			var b bytes.Buffer
			if format.Node(&b, fset, tree) != nil {
				return nil
			}
			return b.Bytes()
		}}
	}
	return []Spelling{
		of("Go formatted", func(*token.FileSet, *ast.File) {}),
		of("Go with other names of variables", renameLocals),
		of("Go with conditions in brackets", func(_ *token.FileSet, f *ast.File) {
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

// renameLocals renames what functions declare: variables, parameters and results. Declarations in other files
// and packages are unknown here, which does not matter.
func renameLocals(fset *token.FileSet, f *ast.File) {
	info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	config := types.Config{Error: func(error) {}}
	_, _ = config.Check("scenario", fset, []*ast.File{f}, &info)
	implicit := map[types.Object]bool{}
	for _, object := range info.Implicits {
		implicit[object] = true // the variable of a type switch has one name and several objects
	}
	local := func(object types.Object) bool {
		v, ok := object.(*types.Var)
		return ok && !v.IsField() && v.Name() != "_" && !implicit[v] && v.Parent() != nil && v.Parent() != v.Pkg().Scope()
	}
	for _, named := range []map[*ast.Ident]types.Object{info.Defs, info.Uses} {
		for id, object := range named {
			if local(object) {
				id.Name += "Value"
			}
		}
	}
}
