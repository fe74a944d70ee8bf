package golang

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/agent/bounded"
)

func TestMain(m *testing.M) {
	bounded.Bootstrap(Task)
	os.Exit(m.Run())
}

// doubling is a file with a string that is twice as long in each line.
func doubling(lines int) string {
	var b strings.Builder
	b.WriteString("package a\n\nconst s0 = \"x\"\n")
	for i := range lines {
		fmt.Fprintf(&b, "const s%d = s%d + s%d\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "\nconst n = len(s%d)\n", lines)
	return b.String()
}

// chain is a file with types that contain each other.
func chain(links int) string {
	var b strings.Builder
	b.WriteString("package a\n\n")
	for i := range links {
		fmt.Fprintf(&b, "type T%d [1]T%d\n", i, i+1)
	}
	fmt.Fprintf(&b, "type T%d struct{ N int }\n", links)
	return b.String()
}

// aliases is a file with aliases of types that are twice as large in each line.
func aliases(lines int) string {
	var b strings.Builder
	b.WriteString("package a\n\ntype P[A, B any] struct {\n\ta A\n\tb B\n}\n\ntype T0 = int\n")
	for i := range lines {
		fmt.Fprintf(&b, "type T%d = P[T%d, T%d]\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "\nvar v T%d\n\nfunc f() { v = 1 }\n", lines)
	return b.String()
}

// hostile is a program with a file of package a, and an ordinary one in package b.
func hostile(text string) *Program {
	return program(map[string]string{"go.mod": "module acme\n", "a/a.go": text,
		"c/c.go": "package c\n\nvar C = 1\n",
		"b/b.go": "package b\n\nimport \"acme/c\"\n\ntype T struct{ N int }\n\nfunc (t T) Close() { t.N = c.None }\n"})
}

// lacking is the end of a child that allocates much at once: it notices, or the kernel refuses.
const lacking = "took more than 512 MiB of memory"

// TestNoFileTakesMoreThanTheBounds uses files for which go/types takes hours, or all memory.
func TestNoFileTakesMoreThanTheBounds(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		bounds bounded.Bounds
		want   string
	}{
		"a string that doubles": {doubling(40), bounded.Bounds{Time: 5 * time.Minute, Memory: 512 << 20}, lacking},
		"a chain of arrays":     {chain(20_000), bounded.Bounds{Time: 300 * time.Millisecond}, "took longer than 300ms"},
		"aliases that double":   {aliases(200), bounded.Bounds{Time: 300 * time.Millisecond}, "took longer than 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			p := hostile(test.text)
			p.Bounds = test.bounds
			defer p.Close()
			if err := p.Check(t.Context(), []string{"b/b.go"}); err != nil {
				t.Fatal(err)
			}
			if err := p.Check(t.Context(), []string{"a/a.go"}); err != nil {
				t.Fatal(err)
			}
			if got := p.Untyped(); got != test.want && (test.want != lacking || !strings.HasPrefix(got, "failed (exit status ")) {
				t.Errorf("determining the types %q; want %q", got, test.want)
			}
			if refs, ok := p.Refs("b/b.go"); ok {
				t.Errorf("it still tells %q", told(refs))
			}
			if missing := p.Missing("b/b.go"); missing != nil {
				t.Errorf("it still tells that %v are missing", missing)
			}
			if methods, _ := p.Methods("b", "T"); len(methods) > 0 {
				t.Errorf("it still tells methods %q", methods)
			}
			refs, err := p.Text(t.Context(), "b", map[string][]byte{"b/b.go": []byte("package b\n\nvar X, Y = 1, X\n")})
			if err != nil || len(refs) > 0 {
				t.Errorf("it still tells %v, %v", refs, err)
			}
		})
	}
}

// TestAChildSaysWhatTheProcessItselfWouldSay checks packages of this repository both ways.
func TestAChildSaysWhatTheProcessItselfWouldSay(t *testing.T) {
	root := os.DirFS("../../..")
	files := map[string]string{}
	for _, dir := range []string{"go.mod", "agent/impact", "agent/outline", "verdict", "worktree/filekind", "worktree/diff"} {
		err := fs.WalkDir(root, dir, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (strings.HasSuffix(name, ".go") || name == "go.mod") {
				text, err := fs.ReadFile(root, name)
				files[name] = string(text)
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(child *bounded.Child[question, answer]) (refs map[string][]Ref, methods []any) {
		p := program(files)
		p.child = child
		defer p.Close()
		var paths []string
		for name := range files {
			if strings.HasPrefix(name, "agent/") {
				paths = append(paths, name)
			}
		}
		if err := p.Check(t.Context(), paths); err != nil {
			t.Fatal(err)
		}
		old, err := p.Text(t.Context(), "agent/impact/golang", map[string][]byte{
			"agent/impact/golang/ref.go": []byte("package golang\n\nfunc old(p *Program) { p.passed = most }\n")})
		if err != nil || len(old["agent/impact/golang/ref.go"]) != 3 {
			t.Fatalf("the old text refers to %v, %v", old, err)
		}
		for _, name := range []string{"agent/impact.Name", "agent/impact.Files", "agent/impact/golang.Program", "agent/impact.none", "none.T"} {
			dir, name := path.Dir(name)+"/"+strings.TrimSuffix(path.Base(name), path.Ext(name)), strings.TrimPrefix(path.Ext(name), ".")
			names, isInterface := p.Methods(path.Clean(dir), name)
			methods = append(methods, names, isInterface)
		}
		p.refs["old"] = old["agent/impact/golang/ref.go"]
		if p.Untyped() != "" {
			t.Fatalf("determining the types %s", p.Untyped())
		}
		return p.refs, methods
	}
	refs, methods := read(nil)
	wantRefs, wantMethods := read(Task.Local())
	if len(refs) < 30 || !reflect.DeepEqual(refs, wantRefs) {
		for name := range wantRefs {
			if got, want := told(refs[name]), told(wantRefs[name]); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: told\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		t.Errorf("references of %d files differ from those of %d", len(refs), len(wantRefs))
	}
	if !reflect.DeepEqual(methods, wantMethods) {
		t.Errorf("methods %v; want %v", methods, wantMethods)
	}
}
