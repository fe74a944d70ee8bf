package reviewer

import (
	"strings"
	"testing"

	"touchstone/guidelines"
	"touchstone/worktree/diff"
)

func TestGuidesThatNameWhatIsTouched(t *testing.T) {
	d := diff.Diff{Files: []diff.File{
		{Path: "Makefile", Status: "modified"}, {Path: "cmd/app/main.go", Status: "modified"},
		{Path: "new/name.go", OldPath: "old/name.go", Status: "renamed"},
		{Path: "docs/gone.md", Status: "deleted"}, {Path: "added.go", Status: "added"}, {Path: "cmd/app/a.go", Status: "modified"},
	}}
	for text, want := range map[string]string{
		"Run `make test`.":            "make: Makefile is changed",
		"See cmd/app/main.go.":        "cmd/app/main.go: it is changed",
		"See ./cmd/app/main.go:":      "cmd/app/main.go: it is changed",
		"Start in main.go":            "main.go: cmd/app/main.go is changed",
		"It is in `old/name.go`":      "old/name.go: it is now new/name.go",
		"[this](docs/gone.md)":        "docs/gone.md: it is deleted",
		"a.go is too short a name":    "",
		"added.go was not there":      "",
		"Makes sense, remake it":      "",
		"xcmd/app/main.go is another": "",
		"cmd/app/main.go.orig too":    "",
	} {
		found := mentions(guide{path: "AGENTS.md", after: "# Guide\n" + text + "\n"}, touched(d))
		got := ""
		for _, m := range found {
			got = m.why
			if m.line != 2 || m.text != text {
				t.Errorf("%q is line %d", m.text, m.line)
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	nested := mentions(guide{path: "docs/AGENTS.md", after: "See gone.md."}, touched(d))
	if len(nested) != 1 || !nested[0].touch.gone {
		t.Errorf("a guide names what lies beside it: %+v", nested)
	}
}

func TestAGuideIsStaleOnlyWhereTheChangeLeftIt(t *testing.T) {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	const left, written, bare = "See docs/gone.md.", "docs/gone.md went away with v2.", "See gone.md."
	d := diff.Diff{Files: []diff.File{{Path: "docs/gone.md", Status: "deleted"}}}
	guides := []guide{{path: "AGENTS.md", before: left + "\n" + bare, after: left + "\n" + written + "\n" + bare}}
	applied := criteria{rules: rules.For(Texts{}.change(d, 1)), embedded: rules}
	found := stale(d, applied, guides)
	if len(found) != 1 || found[0].Line != 1 || found[0].Quote != left {
		t.Errorf("found %+v", found)
	}
	applied.embedded = guidelines.Set{}
	if found := stale(d, applied, guides); len(found) > 0 {
		t.Errorf("by a rule of somebody else's: %+v", found)
	}
}

func TestGuidesAreMeasured(t *testing.T) {
	lines, commands := measure("# Guide\n\nRun `make` or `make test`:\n\n```sh\nmake `x` `y`\n```\n")
	if lines != 7 || commands != 3 {
		t.Errorf("%d lines, %d commands; want 7 and 3", lines, commands)
	}
}

func TestDeclaredRecurrence(t *testing.T) {
	for text, want := range map[string]string{
		"Recurrence: add lint - forbidigo in make check":     "add lint",
		"why\n  recurrence: Roll out - a.go, b.go\n":         "roll out",
		"Recurrence: single occurrence: searched for x":      "single occurrence",
		"Recurrence: add guideline - doc/D3":                 "add guideline",
		"Recurrence: add lint - x\nRecurrence: add lint - y": "add lint",
		"Recurrence: add lint - x\nRecurrence: roll out - y": "add lint,roll out",
		"Recurrence: add lint":                               "",
		"Recurrence: later":                                  "",
		"- Recurrence: roll out - b.go":                      "roll out",
		"No recurrence: here":                                "",
		"Recurrence: add linty":                              "",
	} {
		if got := strings.Join(declared(Texts{Body: text}), ","); got != want {
			t.Errorf("%q declares %q, want %q", text, got, want)
		}
		if got := strings.Join(declared(Texts{Commits: []string{"Fix it\n\n" + text}}), ","); got != want {
			t.Errorf("as a commit message %q declares %q, want %q", text, got, want)
		}
	}
}

// FuzzGuide reads guides that strangers wrote.
func FuzzGuide(f *testing.F) {
	f.Add("AGENTS.md", "See `a/b.go` and make.\n", "a/b.go")
	f.Add("x/CLAUDE.md", "./../b.go::\n\n", "b.go")
	f.Add("AGENTS.md", strings.Repeat(".", 300)+"\x00\xff/", "/")
	f.Fuzz(func(t *testing.T, name, text, path string) {
		d := diff.Diff{Files: []diff.File{{Path: path, OldPath: "was/" + path, Status: "renamed"},
			{Path: path, Status: "deleted"}, {Path: path, Status: "modified"}}}
		lines := strings.Split(text, "\n")
		for _, m := range mentions(guide{path: name, after: text}, touched(d)) {
			if m.line < 1 || m.line > len(lines) || lines[m.line-1] != m.text {
				t.Fatalf("a mention on line %d of %d", m.line, len(lines))
			}
		}
		declared(Texts{Body: text})
	})
}
