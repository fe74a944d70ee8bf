package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestLazyExpressionsCompile finds expressions that would panic only at their first use. Expressions that the
// program builds from more than literals are left to the tests of their packages.
func TestLazyExpressionsCompile(t *testing.T) {
	root := filepath.Join("..", "..")
	list := exec.Command("git", "grep", "-l", `lazyregexp\.New(`, "--", "*.go")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for name := range strings.Lines(string(files)) {
		name = strings.TrimSpace(name)
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "New" || !isName(f.X, "lazyregexp") {
				return true
			}
			if text, ok := literal(call.Args[0]); ok {
				compiled++
				if _, err := regexp.Compile(text); err != nil {
					t.Errorf("%s: %v", fset.Position(call.Pos()), err)
				}
			}
			return true
		})
	}
	if compiled == 0 {
		t.Error("no expression was found")
	}
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// literal is the value of a string that is written out, in one or several parts.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, also := literal(e.Y)
		return left + right, ok && also
	}
	return "", false
}
