package impact

import (
	"strings"
	"testing"

	"touchstone/agent/impact/golang"
)

// TestANameThatNothingDefinesIsListed has a file for a build constraint, which no compiler has seen, and beside its added line one
// that lacked its name before.
func TestANameThatNothingDefinesIsListed(t *testing.T) {
	const plain = "package load\n\nimport \"acme/errs\"\n\nvar old = errs.Old\n"
	tree := changing(t, map[string]string{
		"go.mod":       "module acme\n",
		"errs/errs.go": "package errs\n\nfunc Errorf(format string) error { return nil }\n",
		"load/load.go": plain,
	}, map[string]string{
		"load/load.go": plain + "\nvar fine = errs.Errorf(\"x\")\n",
		"load/off.go":  "//go:build off\n\npackage load\n\nimport \"acme/errs\"\n\nvar off = errs.New(\"off\")\n",
	})
	const want = "\n## Used by added lines, and defined nowhere in the imported package of this repository\n\n" +
		"  load/off.go:7  errs.New, of errs  | var off = errs.New(\"off\")\n\n##"
	if got := sheetOf(t, tree, "").Text(same, same); !strings.Contains(got, want) {
		t.Errorf("the sheet is\n%s", got)
	}
}

func TestNothingIsUndefinedBesideFilesThatWereNotSearched(t *testing.T) {
	files := map[string]string{"go.mod": "module acme\n", "b/b.go": "package b\n\nvar B = 1\n",
		"a/a.go": "package a\n\nimport \"acme/b\"\n\nvar a = b.A\n"}
	p := golang.New()
	defer p.Close()
	p.Files([]string{"a/a.go", "b/b.go", "go.mod"})
	p.Read = func(paths []string, take func(string, []byte)) error {
		for _, name := range paths {
			take(name, []byte(files[name]))
		}
		return nil
	}
	if err := p.Check(t.Context(), []string{"a/a.go"}); err != nil {
		t.Fatal(err)
	}
	f := finder{program: p, change: changed{golang: []goSide{{path: "a/a.go", lines: lineChanges{added: map[int]string{5: "var a = b.A"}}}}}}
	if all, some := f.undefined(0), f.undefined(1); len(all) != 1 || len(some) != 0 {
		t.Errorf("with all files %v, with some %v", all, some)
	}
}
