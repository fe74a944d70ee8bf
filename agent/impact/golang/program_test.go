package golang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// program is one of files in memory.
func program(files map[string]string) *Program {
	p := New()
	p.Files(slices.Sorted(maps.Keys(files)))
	p.Read = func(paths []string, take func(string, []byte)) error {
		for _, name := range paths {
			take(name, []byte(files[name]))
		}
		return nil
	}
	return p
}

// told are the references of a file, a line each.
func told(refs []Ref) (all []string) {
	for _, r := range refs {
		all = append(all, fmt.Sprintf("%d %s is of %s:%d, written %v", r.Line, r.Name, r.Of.Path, r.Of.Line, r.Written))
	}
	return all
}

func TestNamesAreToldByTheTypesOfTheRepositorysOwnSources(t *testing.T) {
	p := program(map[string]string{
		"go.mod": "module example.com/acme/v2\n",
		"store/s.go": "package store\n\nimport \"nowhere.invalid/x\"\n\ntype Store struct {\n\tx.Base\n\tSize int\n}\n\nfunc New() " +
			"*Store {\n\tbroken(\n}\n\nfunc (s *Store) Close() {\n\tunknown()\n}\n",
		"store/s_test.go": "package store_test\n\nimport \"example.com/acme/v2/store\"\n\nvar size = store.New().Size\n",
		"cmd/main.go": "package main\n\nimport (\n\t\"example.com/acme/v2/store\"\n\t\"os\"\n)\n\nfunc main() {\n\ts := " +
			"store.New()\n\ts.Size++\n\ts.Close()\n\ts.Other = os.Args\n}\n",
	})
	defer p.Close()
	if err := p.Check(t.Context(), []string{"cmd/main.go", "store/s_test.go", "missing.go"}); err != nil {
		t.Fatal(err)
	}
	refs, ok := p.Refs("cmd/main.go")
	want := []string{"9 New is of store/s.go:10, written false", "10 Size is of store/s.go:7, written true",
		"11 Close is of store/s.go:14, written false"}
	if got := told(refs); !ok || !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	refs, _ = p.Refs("store/s_test.go")
	if got := told(refs); len(got) != 2 || got[1] != "5 Size is of store/s.go:7, written false" {
		t.Errorf("in the test %q", got)
	}
	if _, ok := p.Refs("missing.go"); ok {
		t.Error("a file that is not there was checked")
	}
	if methods, asked := p.Methods("store", "Store"); asked || !slices.Equal(methods, []string{"Close"}) {
		t.Errorf("methods %q", methods)
	}
}

// TestARawStringEndsNoFunction has a line in a raw string that looks like the last line of the function around it.
func TestARawStringEndsNoFunction(t *testing.T) {
	p := program(map[string]string{
		"go.mod": "module acme\n",
		"a/a.go": "package a\n\nfunc help() string {\n\treturn `{\n}\n`\n}\n\nfunc Open() {\n}\n",
		"a/b.go": "package a\n\nvar b = Open\n",
		"b/b.go": "package b\n\nimport \"acme/a\"\n\nvar b = a.Open\n",
	})
	defer p.Close()
	if err := p.Check(t.Context(), []string{"a/b.go", "b/b.go"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a/b.go": "3 Open is of a/a.go:9, written false", "b/b.go": "5 Open is of a/a.go:9, written false"} {
		if refs, _ := p.Refs(name); !slices.Equal(told(refs), []string{want}) {
			t.Errorf("in %s %q", name, told(refs))
		}
	}
}

// TestAModuleOfTestdataIsNoPackageOfTheRepository has one there with the path of somebody else's module.
func TestAModuleOfTestdataIsNoPackageOfTheRepository(t *testing.T) {
	p := program(map[string]string{
		"go.mod":                    "module acme\n",
		"a/a.go":                    "package a\n\nimport \"example.com/errs\"\n\nvar err = errs.Open\n",
		"a/testdata/errs/go.mod":    "module example.com/errs\n",
		"a/testdata/errs/errors.go": "package errs\n\nvar Open = 1\n",
	})
	defer p.Close()
	if err := p.Check(t.Context(), []string{"a/a.go"}); err != nil {
		t.Fatal(err)
	}
	if refs, ok := p.Refs("a/a.go"); !ok || len(refs) > 0 {
		t.Errorf("checked: %v, told %q", ok, told(refs))
	}
}

// TestANameThatItsPackageLacksIsMissing also has packages of which it cannot be known what they define.
func TestANameThatItsPackageLacksIsMissing(t *testing.T) {
	p := program(map[string]string{
		"go.mod":              "module acme\n",
		"errs/errs.go":        "package errs\n\nfunc Errorf() {}\n",
		"errs/wide.go":        "//go:build wide\n\npackage errs\n\nfunc Wide() { return }\nfunc Beside() {\n\t}\nfunc Below() {}\n",
		"errs/export_test.go": "package errs\n\nvar Private = 1\n",
		"errs/errs_test.go":   "package errs_test\n\nimport \"acme/errs\"\n\nvar p = errs.Private\n",
		"broken/a.go":         "package broken\n\nvar B = 1\n\nfunc {\n",
		"mixed/a.go":          "package main\n\nvar M = 1\n",
		"mixed/b.go":          "package mixed\n\nvar X = 1\n",
		"zlarge/a.go":         "package zlarge\n",
		"zlarge/b.go":         "package zlarge\n" + strings.Repeat("// x\n", most/5),
		"test/fake/a.go":      "package fake\n\nvar Y = 1\n",
		"copies/one/go.mod":   "module example.com/copy\n",
		"copies/one/a.go":     "package copy\n\nvar One = 1\n",
		"copies/two/go.mod":   "module example.com/copy\n",
		"copies/two/a.go":     "package copy\n\nvar Two = 1\n",
		"a/a.go": "package a\n\nimport (\n\t\"acme/broken\"\n\tE \"acme/errs\"\n\tmixed \"acme/mixed\"\n\t" +
			"\"acme/zlarge\"\n\t\"acme/test/fake\"\n\t\"example.com/copy\"\n\t\"os\"\n)\n\n" +
			"var a = []any{E.New, E.Errorf, E.Wide, E.Beside, E.Below, os.New, broken.X, mixed.X, zlarge.X, fake.X, copy.Two, copy.X}\n\n" +
			"func f(E struct{ New int }) int { return E.New }\n",
		"a/unfinished.go": "package a\n\nimport \"acme/errs\"\n\nvar u = errs.\n",
	})
	defer p.Close()
	if err := p.Check(t.Context(), []string{"a/a.go", "a/unfinished.go", "errs/errs_test.go"}); err != nil {
		t.Fatal(err)
	}
	if got := p.Missing("a/a.go"); !slices.Equal(got, []Missing{{"E", "New", 13, "errs"}}) {
		t.Errorf("missing are %v", got)
	}
	for _, name := range []string{"errs/errs_test.go", "a/unfinished.go"} {
		if got := p.Missing(name); got != nil {
			t.Errorf("in %s %v", name, got)
		}
	}
}

func TestAProgramIsReadUpToItsBound(t *testing.T) {
	files := map[string]string{"go.mod": "module acme\n",
		"a/a.go":   "package a\n\nimport \"acme/big\"\n\ntype T struct{ N int }\n\nvar n = T{}.N + big.Size\n",
		"big/b.go": "package big\n\nconst Size = 1\n" + strings.Repeat("// x\n", most/5)}
	p := program(files)
	defer p.Close()
	if err := p.Check(t.Context(), []string{"a/a.go"}); err != nil {
		t.Fatal(err)
	}
	if refs, _ := p.Refs("a/a.go"); len(refs) != 2 || p.Passed() != 1 {
		t.Errorf("%d files were left out; told %q", p.Passed(), told(refs))
	}
}

func FuzzAnyFileIsChecked(f *testing.F) {
	f.Add("package a\n\ntype T struct{ N int }\n\nfunc (t T) F() { t.N = 1 }\n")
	f.Add("package a; import \"acme/a\"; var x = a.x")
	f.Add("func {")
	f.Add("package a\ntype T[P T[P]] struct { T[P] }\nvar v = T[int]{}.x")
	f.Fuzz(func(t *testing.T, text string) {
		p := program(map[string]string{"go.mod": "module acme\n", "a/a.go": text,
			"b/b.go": "package b\n\nimport \"acme/a\"\n\nvar x = a.T{}.N\n"})
		defer p.Close()
		if err := p.Check(t.Context(), []string{"a/a.go", "b/b.go"}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLineDirectivesMoveNothing checks that references in a generated file, and to it, have the lines and the name of the
// file itself, as a reader of the repository sees it.
func TestLineDirectivesMoveNothing(t *testing.T) {
	p := program(map[string]string{
		"go.mod": "module acme\n",
		"a/y.go": "package a\n\n//line a.y:100\ntype Token struct{ Kind int }\n\nfunc kind(t Token) int { return t.Kind }\n",
		"a/a.go": "package a\n\nfunc set(t *Token) { t.Kind = 1 }\n",
	})
	defer p.Close()
	if err := p.Check(t.Context(), []string{"a/a.go", "a/y.go"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"a/a.go": {"3 Token is of a/y.go:4, written false", "3 Kind is of a/y.go:4, written true"},
		"a/y.go": {"6 Token is of a/y.go:4, written false", "6 Kind is of a/y.go:4, written false"},
	} {
		if refs, ok := p.Refs(name); !ok || !slices.Equal(told(refs), want) {
			t.Errorf("%s was checked: %v; told\n%s\nwant\n%s", name, ok, strings.Join(told(refs), "\n"), strings.Join(want, "\n"))
		}
	}
}
