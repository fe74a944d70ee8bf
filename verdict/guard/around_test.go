package guard_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"touchstone/verdict/guard"
)

// standing is a commit with files. The file in broken cannot be read, and link is a link.
type standing struct {
	files        fstest.MapFS
	broken, link string
}

func (s standing) ReadFile(_ context.Context, rev, name string) ([]byte, error) {
	if name == s.broken || rev != "base" {
		return nil, errors.New("the object is gone")
	}
	if name == s.link {
		return nil, fmt.Errorf("no regular file: %w", fs.ErrInvalid)
	}
	return s.files.ReadFile(name)
}

func (s standing) ReadDir(_ context.Context, rev, dir string) ([]string, error) {
	if dir == s.broken || rev != "base" {
		return nil, errors.New("the object is gone")
	}
	entries, err := s.files.ReadDir(dir)
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return names, err
}

func commit(names ...string) standing {
	s := standing{files: fstest.MapFS{}}
	for _, name := range names {
		s.files[name] = &fstest.MapFile{Data: []byte("select = [\"S\"]\n")}
	}
	return s
}

// Owners of a path at which no file is are not needed by any change yet, unless they are to see what comes to be there.
func TestOwnersOfNothingAreEvidence(t *testing.T) {
	for pattern, want := range map[string]string{"eng/Source*": "evidence", "/eng/gone/": "evidence", "gone/*": "evidence", "eng/x*": "hold",
		"/eng": "hold", "*.cs": "hold", "eng/**/gone": "hold", "docs/[id].md": "hold", "//docs/a.md": "hold", "../docs/": "hold",
		".github/workflows/": "hold", "new/": "hold", "/new/b": "evidence", "/new/a.cs": "hold"} {
		file := guard.File{Path: ".github/CODEOWNERS", OldPath: ".github/CODEOWNERS", Before: []byte("docs/ @a\n" + pattern + " @b\n"),
			After: []byte("docs/ @a\n")}
		change := guard.Change{Files: []guard.File{file, {Path: "new/a.cs", After: []byte("class A { }\n")}}}
		if err := guard.Surround(t.Context(), &change, "base", commit("eng/x.cs", "docs/a.md", "docs/[id].md")); err != nil {
			t.Fatal(err)
		}
		if found := guard.Examine(change); len(found) != 1 || string(found[0].Tier) != want {
			t.Errorf("%s: found %+v, want %s", pattern, found, want)
		}
	}
}

// Owners go with what they own, and not with one file of it.
func TestOwnersOfWhatIsLeftAreHeld(t *testing.T) {
	for pattern, want := range map[string]string{"/eng/": "hold", "/eng/*.cs": "hold", "/eng/x.cs": "", "/old/": "", "old/b": "",
		"/moved/": "", "/deep/": "hold", "*.sql": "evidence"} {
		change := guard.Change{Files: []guard.File{{Path: ".github/CODEOWNERS", OldPath: ".github/CODEOWNERS",
			Before: []byte("docs/ @a\n" + pattern + " @b\n"), After: []byte("docs/ @a\n")}, {OldPath: "moved/a.cs", Path: "docs/a.cs"}}}
		for name := range strings.FieldsSeq("eng/x.cs old/a.cs old/b/c.cs deep/a.cs a.sql") {
			change.Files = append(change.Files, guard.File{OldPath: name, Before: []byte("select 1;\n")})
		}
		base := commit("eng/x.cs", "eng/y.cs", "old/a.cs", "old/b/c.cs", "moved/a.cs", "deep/a.cs", "deep/b/c/d.cs", "a.sql", "b.sql",
			"docs/a.md")
		if err := guard.Surround(t.Context(), &change, "base", base); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range guard.Examine(change) {
			if f.Rule == "policy/owners" {
				got = string(f.Tier)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

func TestSurroundAddsWhatHasToBeSeen(t *testing.T) {
	fresh := func(path string) guard.File { return guard.File{Path: path, After: []byte("select = []\n")} }
	for name, tt := range map[string]struct {
		change guard.File
		base   standing
		want   string
	}{
		"the configurations above a new one": {fresh("a/b/ruff.toml"),
			commit("ruff.toml", "a/ruff.toml", "a/pyproject.toml", "c/ruff.toml", "a/tsconfig.json"),
			"a/pyproject.toml a/ruff.toml ruff.toml"},
		"a rival beside it": {fresh("a/ruff.toml"), commit("a/.ruff.toml", "a/b/c/x.py", "d/y.py"), "a/.ruff.toml"},
		"the workflows beside a changed one, and what they run": {guard.File{Path: ".github/workflows/a.yml",
			OldPath: ".github/workflows/a.yml"},
			commit(".github/workflows/a.yml", ".github/workflows/b.yml", ".github/dependabot.yml", ".github/actions/x/action.yml",
				"Makefile", "package.json", "scripts/test.sh", "scripts/release.sh", ".golangci.toml", "a/.golangci.toml"),
			".github/actions/x/action.yml .github/workflows/b.yml .golangci.toml Makefile package.json scripts/test.sh"},
		"the workflows that run a changed target": {guard.File{Path: "Makefile", OldPath: "Makefile"},
			commit(".github/workflows/a.yml"), ".github/workflows/a.yml"},
		"the workflows that run a changed list of tasks": {guard.File{Path: "composer.json", OldPath: "composer.json"},
			commit(".github/workflows/a.yml"), ".github/workflows/a.yml"},
		"the workflows that run a changed program": {guard.File{Path: "ci/check.py", OldPath: "ci/check.py"},
			commit(".github/workflows/a.yml", "ci/b.py"), ".github/workflows/a.yml"},
		"what is not the repository's own": {fresh("a.go"), commit(".gitattributes"), ".gitattributes"},
		"the code and the tests, if a change only deletes tests": {guard.File{OldPath: "a/test/x_test.rb", Before: []byte("a\n")},
			commit("a/x.rb", "a/test/y_test.rb", "a/x.py", "vendor/z.rb", "testdata/z.rb"), "a/test/y_test.rb a/x.rb"},
		"no code, if it also adds one": {guard.File{OldPath: "x_test.rb", Path: "x_test.rb", Before: []byte("a\nb\n"), After: []byte("c\n")},
			commit("a/x.rb"), ""},
		"one test in a folder that leaves its module, and the modules around it": {guard.File{Path: "a/go.mod", After: []byte("module a\n")},
			commit("go.mod", "go.work", "a/b/a_test.go", "a/b/b_test.go", "a/testdata/a_test.go", "a/v2/go.mod", "a/v2/c_test.go",
				"vendor/go.mod", "b/go.mod", "b/a_test.go", ".github/workflows/a.yml"),
			"a/b/a_test.go a/v2/go.mod go.mod go.work"},
		"one test in the folders that a module ignores": {
			guard.File{OldPath: "go.mod", Path: "go.mod", Before: []byte("module a\n"), After: []byte("module a\n\nignore deep\n")},
			commit("a/a_test.go", "a/deep/b_test.go", "b/deep/c_test.go"), "a/deep/b_test.go"},
		"nothing for a changed one": {guard.File{Path: "a/ruff.toml", OldPath: "a/ruff.toml"}, commit("ruff.toml"), ""},
		"nothing for other files":   {fresh("a/x.py"), commit("ruff.toml", "a/y.py"), ""},
	} {
		change := guard.Change{Files: []guard.File{tt.change}}
		if err := guard.Surround(t.Context(), &change, "base", tt.base); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, f := range change.Files[1:] {
			got = append(got, f.Path)
			if f.OldPath != f.Path || f.Unread || string(f.Before) != "select = [\"S\"]\n" || string(f.After) != string(f.Before) {
				t.Errorf("%s: %+v did not change", name, f)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestSurroundFailsClosed(t *testing.T) {
	base := commit("ruff.toml", "a/x.py")
	change := func() *guard.Change {
		return &guard.Change{Files: []guard.File{{Path: "a/ruff.toml", After: []byte("select = []\n")}}}
	}
	base.broken = "ruff.toml"
	c := change()
	if err := guard.Surround(t.Context(), c, "base", base); err != nil {
		t.Fatal(err)
	}
	if hits := guard.Examine(*c); !slices.ContainsFunc(hits, func(h guard.Finding) bool {
		return h.Kind == guard.Unexamined &&
			h.Path == "ruff.toml"
	}) {
		t.Errorf("a configuration that cannot be read: %+v", hits)
	}
	base.broken, base.link = "", "ruff.toml"
	c = change()
	if err := guard.Surround(t.Context(), c, "base", base); err != nil || len(c.Files) != 1 {
		t.Errorf("an unchanged link: %+v, %v", c.Files, err)
	}
	base.broken = "a"
	if err := guard.Surround(t.Context(), change(), "base", base); err == nil {
		t.Error("a directory that cannot be read is passed over")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	base.broken = "ruff.toml"
	if err := guard.Surround(ctx, change(), "base", base); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// One new file does not make the guard read a wide tree to its end.
func TestSurroundIsBounded(t *testing.T) {
	base := standing{files: fstest.MapFS{}}
	for i := range 1000 {
		base.files["a/"+strings.Repeat("d", i%200+1)+"/"+strings.Repeat("f", i/200+1)+".txt"] = &fstest.MapFile{}
		base.files[".github/workflows/"+strings.Repeat("w", i+1)+".yml"] = &fstest.MapFile{Mode: fs.ModePerm}
	}
	for i := range 1001 {
		base.files["src/"+strings.Repeat("s", i+1)+".py"] = &fstest.MapFile{}
	}
	c := guard.Change{Files: []guard.File{{OldPath: "test_a.py", Before: []byte("a")}}}
	if err := guard.Surround(t.Context(), &c, "base", base); err != nil || len(c.Files) > 1 {
		t.Errorf("%d files around a deleted test, %v", len(c.Files)-1, err)
	}
	c = guard.Change{Files: []guard.File{{Path: "a/ruff.toml"}, {Path: ".github/workflows/new.yml"}}}
	if err := guard.Surround(t.Context(), &c, "base", base); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Files); n < 250 || n > 310 {
		t.Errorf("%d files around a change of two", n)
	}
}
