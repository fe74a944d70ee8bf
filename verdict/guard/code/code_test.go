package code_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/code"
)

// scenario is a change, and what has to be said of it.
type scenario struct {
	name  string
	want  []string // "tier rule path:line"
	files []change.File
}

// read parses a file of scenarios: "=== name", then "want tier rule path:line" for each
// finding, then files: "--- path" or "--- old => new" and the whole file with a blank,
// "-" or "+" before each line, as in a diff. A file with only "+" lines is new, one with
// only "-" lines is deleted.
func read(t testing.TB, name string) []scenario {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []scenario
	for _, part := range strings.Split(string(data), "=== ")[1:] {
		head, body, _ := strings.Cut(part, "\n--- ")
		lines := strings.Split(strings.TrimSpace(head), "\n")
		s := scenario{name: lines[0]}
		for _, line := range lines[1:] {
			want, ok := strings.CutPrefix(line, "want ")
			if !ok {
				t.Fatalf("%s: %s: %q is no expectation", name, s.name, line)
			}
			s.want = append(s.want, want)
		}
		for _, text := range strings.Split(body, "\n--- ") {
			s.files = append(s.files, fileOf(text))
		}
		all = append(all, s)
	}
	return all
}

func fileOf(text string) change.File {
	name, body, _ := strings.Cut(text, "\n")
	old, path, renamed := strings.Cut(name, " => ")
	if !renamed {
		path = old
	}
	var before, after strings.Builder
	for line := range strings.Lines(strings.TrimRight(body, "\n") + "\n") {
		switch {
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:])
		default:
			before.WriteString(strings.TrimPrefix(line, " "))
			after.WriteString(strings.TrimPrefix(line, " "))
		}
	}
	f := change.File{Path: path, OldPath: old, Before: []byte(before.String()), After: []byte(after.String())}
	if before.Len() == 0 {
		f.OldPath, f.Before = "", nil
	}
	if after.Len() == 0 {
		f.Path, f.After = "", nil
	}
	return f
}

// scenarios reads all files of scenarios.
func scenarios(t testing.TB) []scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var all []scenario
	for _, name := range files {
		all = append(all, read(t, name)...)
	}
	return all
}

func TestExamine(t *testing.T) {
	names := map[string]bool{}
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			if names[s.name] {
				t.Fatal("the name is taken")
			}
			names[s.name] = true
			var got []string
			for _, f := range code.Examine(s.files) {
				got = append(got, fmt.Sprintf("%s %s %s:%d", f.Tier, f.Rule, f.Path, f.Line))
				if f.Why == "" || f.Kind != change.Unexamined && f.Before == "" && f.After == "" {
					t.Errorf("a finding without a reason or text: %+v", f)
				}
			}
			slices.Sort(got)
			slices.Sort(s.want)
			if !slices.Equal(got, s.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(s.want, "\n  "))
			}
		})
	}
}
