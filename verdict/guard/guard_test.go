package guard_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard"
)

// scenario is a change as a reviewer sees it, and what the guard has to say.
type scenario struct {
	name   string
	want   []string // "kind path:line"
	change guard.Change
}

// read parses a file of scenarios: "=== name", then "want kind path:line" for
// each hit, then files: "--- path" or "--- old => new" and the whole file with a
// blank, "-" or "+" before each line, as in a diff. A file with only "+" lines
// is new, one with only "-" lines is deleted, one with neither stands unchanged
// around the change.
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
			f := fileOf(text)
			s.change.Files = append(s.change.Files, f)
			if f.Path != f.OldPath || !bytes.Equal(f.Before, f.After) {
				s.change.Names = append(s.change.Names, cmp.Or(f.Path, f.OldPath))
			}
		}
		all = append(all, s)
	}
	return all
}

func fileOf(text string) guard.File {
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
	f := guard.File{Path: path, OldPath: old, Before: []byte(before.String()), After: []byte(after.String())}
	if before.Len() == 0 {
		f.OldPath = ""
	}
	if after.Len() == 0 {
		f.Path = ""
	}
	return f
}

func scenarios(t testing.TB, dir string) []scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %s: %v", dir, err)
	}
	var all []scenario
	for _, name := range files {
		all = append(all, read(t, name)...)
	}
	return all
}

func TestExamine(t *testing.T) {
	for _, dir := range []string{"hit", "pass"} {
		all := scenarios(t, dir)
		if len(all) < 120 {
			t.Errorf("%d scenarios in %s, want at least 120", len(all), dir)
		}
		names := map[string]bool{}
		for _, s := range all {
			t.Run(dir+"/"+s.name, func(t *testing.T) {
				if names[s.name] || (len(s.want) > 0) != (dir == "hit") {
					t.Fatal("the name is taken, or it stands in the wrong directory")
				}
				names[s.name] = true
				var got []string
				for _, hit := range guard.Examine(s.change) {
					got = append(got, fmt.Sprintf("%s %s:%d", hit.Kind, hit.Path, hit.Line))
					if hit.Why == "" || hit.Before == "" && hit.After == "" {
						t.Errorf("a hit without reason or text: %+v", hit)
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
}
