package guidelines

import (
	"reflect"
	"strings"
	"testing"
)

func compiled(t *testing.T, scope string) Scope {
	t.Helper()
	compiled, err := Compile(scope)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// changed is a change of files given by their paths.
func changed(paths ...string) Change {
	change := Change{Round: 1}
	for _, path := range paths {
		change.Files = append(change.Files, File{Path: path})
	}
	return change
}

func TestScopeApplies(t *testing.T) {
	moved := Change{Files: []File{{Path: "cmd/new.txt", OldPath: "lib/old_test.go"}}}
	fix := changed("store/store.go", "README.md")
	fix.Title = "Fix the lost update"
	tests := []struct {
		name, scope string
		change      Change
		want        bool
		why         string
	}{
		{"all", "all", changed("a.go"), true, "every change"},
		{"no file at all", "all", Change{}, false, "no changed file meets it"},
		{"code and not tests", "code !tests", changed("a_test.go", "a.go"), true, "a.go"},
		{"code and not tests, only tests", "code !tests", changed("a_test.go"), false, "no changed file meets it"},
		{"one file has to meet every term", "docs tests", changed("a.md", "a_test.go"), false, "no changed file meets it"},
		{"alternatives", "ci, docs", changed("a.go", "x/guide.adoc"), true, "x/guide.adoc"},
		{"and binds tighter than or", "code bug-fix, ci", changed(".gitlab-ci.yml"), true, ".gitlab-ci.yml"},
		{"files and change", "code bug-fix", fix, true, "store/store.go; the title says fix"},
		{"change only", "bug-fix", fix, true, "the title says fix"},
		{"not of the change", "code !bug-fix", fix, false, "no changed file meets it"},
		{"not of the change, met", "!bug-fix", changed("a.go", "b.go"), true, "a.go and 1 more"},
		{"others are counted", "docs", changed("a.md", "b.go", "c.md", "d.md"), true, "a.md and 2 more"},
		{"the old name counts", "tests", moved, true, "cmd/new.txt"},
		{"terms are not met across names", "tests **/*.txt", moved, false, "no changed file meets it"},
		{"tricky names are quoted", "code", changed("a\x1b[31m.go"), true, `"a\x1b[31m.go"`},
		{"pattern and word", "**/*.sql !migration", changed("db/migrations/1.sql", "reports/x.sql"), true, "reports/x.sql"},
		{"backslash and space in a name", "docs", changed("a b\\c.md"), true, `"a b\\c.md"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, why := compiled(t, test.scope).Applies(test.change)
			if got != test.want || why != test.why {
				t.Errorf("got %v because of %q, want %v because of %q", got, why, test.want, test.why)
			}
		})
	}
}

func TestAPatternIsMatchedAgainstTheWholePath(t *testing.T) {
	tests := []struct {
		pattern    string
		met, unmet []string
	}{
		{"*.go", []string{"a.go", ".go"}, []string{"x/a.go", "a.goo", "a.go/b"}},
		{"**/*.go", []string{"a.go", "x/a.go", "x/y/a.go"}, []string{"a.go/x", "A.GO"}},
		{"src/**", []string{"src/a", "src/a/b"}, []string{"src", "asrc/a", "x/src/a"}},
		{"**/docs/**", []string{"docs/a", "x/docs/y/z"}, []string{"docs", "mydocs/a"}},
		{"a/**/b.txt", []string{"a/b.txt", "a/x/b.txt", "a/x/y/b.txt"}, []string{"ab.txt", "a/xb.txt"}},
		{"a?c.md", []string{"abc.md", "a c.md", "aßc.md"}, []string{"ac.md", "a/c.md", "abbc.md"}},
		{"pages/[id].tsx", []string{"pages/[id].tsx"}, []string{"pages/i.tsx"}},
		{".touchstone/**", []string{".touchstone/guidelines/a.md"}, []string{"xtouchstone/a"}},
		{"**/CODEOWNERS", []string{"CODEOWNERS", ".github/CODEOWNERS"}, []string{"codeowners"}},
		{"**", []string{"a", "a/b"}, nil},
		{"a/*/c", []string{"a/b/c", "a//c"}, []string{"a/c", "a/b/b/c"}},
		{"x*y*z.txt", []string{"xyz.txt", "x-y-z.txt"}, []string{"xz.txt"}},
		{"line.txt", []string{"line.txt"}, []string{"line.txt\n", "line\n.txt"}},
	}
	for _, test := range tests {
		scope := compiled(t, test.pattern)
		for _, path := range test.met {
			if ok, _ := scope.Applies(changed(path)); !ok {
				t.Errorf("%s does not match %q", test.pattern, path)
			}
		}
		for _, path := range test.unmet {
			if ok, _ := scope.Applies(changed(path)); ok {
				t.Errorf("%s matches %q", test.pattern, path)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	tests := map[string]string{
		"":                         "the scope is empty: write all",
		"  ":                       "the scope is empty",
		"code,":                    "a comma in a scope has nothing on one side",
		",code":                    "a comma in a scope has nothing",
		"code ,, ci":               "a comma in a scope has nothing",
		"cod":                      `"cod" cannot be decided: it is none of all, bug-fix, ci, code, config,`,
		"Makefile":                 `"Makefile" cannot be decided`,
		"code and tests":           `"and" cannot be decided`,
		"only payment code":        `"only" cannot be decided`,
		"CODE":                     `"CODE" cannot be decided`,
		"!":                        "! has nothing behind it",
		"code ! tests":             "! has nothing behind it",
		"code !!tests":             `"!tests" cannot be decided`,
		"!!*.go":                   "write alternatives with a comma",
		"/src/**":                  "it is a whole path from the repository's root",
		"./src/a.go":               "it is a whole path from the repository's root",
		"src/":                     "such as src/**",
		"src//a":                   "a path has no empty segment",
		"src/../a":                 "no . and no ..",
		"..":                       "no . and no ..",
		"**.go":                    "** stands for whole segments",
		"src/a**":                  "** stands for whole segments",
		"*.{ts":                    "write alternatives with a comma",
		`src\*.cs`:                 "write alternatives with a comma",
		strings.Repeat("a", 1001):  "at most 1000 bytes",
		strings.Repeat("all ", 51): "at most 50 words",
	}
	for scope, want := range tests {
		compiled, err := Compile(scope)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", scope, err, want)
		}
		if !reflect.DeepEqual(compiled, Scope{}) {
			t.Errorf("%q: an error and a scope", scope)
		}
	}
}

func TestZeroScopeAppliesToNothing(t *testing.T) {
	if ok, _ := (Scope{}).Applies(changed("a.go")); ok {
		t.Error("it applies")
	}
}

func TestScopesThatNeverApplyAreFound(t *testing.T) {
	for scope, want := range map[string]bool{
		"code !code": true, "!all": true, "code !code, docs !docs": true, "*.go !*.go": true,
		"docs-only code": true, "docs-only !docs": true, "code docs": true, "config tests": true, "migration docs-only": true,
		"code docs, ci config": true,
		"code !code, docs":     false, "code !tests": false, "all": false, "!code": false,
		"docs-only docs": false, "docs-only tests": false, "!docs-only docs": false, "ci docs": false, "code migration": false,
		"code docs, tests": false,
	} {
		if got := compiled(t, scope).never(); got != want {
			t.Errorf("%q: got %v", scope, got)
		}
	}
}

func TestScopesThatNeverMeetAreToldApart(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"code !tests", "tests", true},
		{"code", "docs", true},
		{"code, docs", "config", true},
		{"*.go", "!*.go", true},
		{"all", "code", false},
		{"code !tests", "code", false},
		{"code, docs", "docs, config", false},
		{"code", "bug-fix", false},
	} {
		if a, b := compiled(t, test.a), compiled(t, test.b); a.apart(b) != test.want || b.apart(a) != test.want {
			t.Errorf("%q and %q are apart: %v", test.a, test.b, a.apart(b))
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"all", "code !tests", "`**/*.go`", "ci, config", "**/AGENTS.md, docs-only", "docs-only code", "docs migration, ci config", "a/**/b?.[x]",
		"!", ",", "code,,", "\x00", "é*", "**/**", "*" + strings.Repeat("*a", 40),
	} {
		f.Add(seed, "a/b/"+seed)
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		scope, err := Compile(text)
		if err != nil {
			if len(err.Error()) > 4*maxScopeBytes+1000 {
				t.Fatalf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		change := Change{Files: []File{{Path: path, Patch: []byte("@@ -1 +1 @@\n-" + path + "\n+" + text)}}, Title: path, Branch: text,
			Round: len(path)}
		applies, why := scope.Applies(change)
		if why == "" || strings.ContainsAny(why, "\n\x1b") {
			t.Fatalf("why is %q", why)
		}
		if applies && scope.never() {
			t.Fatalf("%q applies to %q and never does", text, path)
		}
		again, err := Compile(scope.String())
		if err != nil || !reflect.DeepEqual(again, scope) {
			t.Fatalf("compiled twice: %v\n%+v\n%+v", err, scope, again)
		}
	})
}
