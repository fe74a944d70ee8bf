package reviewer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/reviewer/change"
	"touchstone/guidelines"
	"touchstone/worktree/diff"
)

func TestAFileIsTooLongOnlyWhereTheChangeMakesItSo(t *testing.T) {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files []change.File
	put := func(name string, lines, added, deleted int) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x\n", lines)), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, change.File{File: diff.File{Path: name, Added: added, Deleted: deleted}})
	}
	put("grown.go", 501, 10, 2)
	put("new.go", 600, 600, 0)
	put("just.go", 500, 100, 0)
	put("was.go", 800, 10, 2)
	put("less.go", 700, 2, 300)
	put("long.md", 800, 800, 0)
	put("long_test.go", 800, 800, 0)
	d := diff.Diff{Files: []diff.File{{Path: "grown.go"}}}
	var got []string
	for _, f := range long(dir, criteria{rules: rules.For(Texts{}.change(d, 1)), embedded: rules}, files) {
		got = append(got, fmt.Sprintf("%s %s %s: %s", f.Rule, f.Severity, f.Path, f.Claim))
	}
	want := []string{
		"architecture/A13 nit grown.go: The file grows from 493 to 501 lines, past the 500 that a reader takes in at once.",
		"architecture/A13 nit new.go: The file grows from 0 to 600 lines, past the 500 that a reader takes in at once.",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
}

func TestAGuideHasToEarnWhatTheChangeAddsToIt(t *testing.T) {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("Run `make`.\n", 201)
	for name, test := range map[string]struct{ before, after, want string }{
		"too long":           {"", long, "0: The guide grows from 0 to 201 lines"},
		"was too long":       {long, long + "Run `make test`.\n", ""},
		"nothing to run":     {"", strings.Repeat("The code is in Go.\n", 6), "0: The guide names nothing that can be run."},
		"a virtue":           {"Run `make`.\n", "Run `make`.\nAlways write clean, maintainable code.\n", "2: The line asks for a virtue"},
		"a virtue of before": {"Follow best practices.\n", "Follow best practices.\nRun `make`.\n", ""},
		"an example":         {"", "Do not write \"you are an expert\" into `prompts/`.\n", ""},
		"as it was":          {"Follow best practices.\n", "Follow best practices.\n", ""},
	} {
		d := diff.Diff{Files: []diff.File{{Path: "AGENTS.md"}}}
		guides := []guide{{path: "AGENTS.md", before: test.before, after: test.after}}
		got := ""
		for _, f := range unearned(criteria{rules: rules.For(Texts{}.change(d, 1)), embedded: rules}, guides) {
			got += fmt.Sprintf("%d: %s", f.Line, f.Claim)
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
