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
			for _, f := range code.Examine(s.files, nil) {
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

// No bytes cause a panic, and an empty change gives no hit.
func FuzzExamine(f *testing.F) {
	for _, s := range scenarios(f) {
		for _, file := range s.files {
			f.Add(file.Name(), file.Before, file.After)
		}
	}
	for _, name := range []string{"a_test.go", "a.test.ts", "test_a.py", "a_spec.rb", "ATest.kt", "ATests.cs", "a.rs", "a_test.php",
		"a_test.cc", "a_test.exs"} {
		f.Add(name, []byte("\"'`/*{([<<~A %w[ #{ ${ r#\" '''"), []byte("]})end*/\"\"\""))
	}
	f.Add("a.py", []byte("0"), []byte("# \x990# noqA "))
	f.Fuzz(func(t *testing.T, name string, before, after []byte) {
		code.Examine([]change.File{{Path: name, OldPath: name, Before: before, After: after}, {Path: "b/" + name, After: before}}, nil)
		if got := code.Examine([]change.File{{Path: name, OldPath: name, Before: before, After: before}}, nil); len(got) > 0 {
			t.Errorf("nothing changed, and it says %v", got)
		}
	})
}

// Time grows with the length of the text, also where quotes and brackets do not close.
// go test -bench Examine ./verdict/guard/code
func BenchmarkExamine(b *testing.B) {
	unit := "describe('a', () => {\n  it('adds %d', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n})\n"
	for name, text := range map[string]string{
		"a test file of 4 MB":    strings.Repeat(unit, 4<<20/len(unit)),
		"4 MB of open quotes":    strings.Repeat("'\\", 2<<20),
		"4 MB of open templates": strings.Repeat("`${", 4<<20/3),
		"4 MB of open brackets":  strings.Repeat("it('", 1<<20),
		"2 MB of closed nesting": strings.Repeat("describe('a', () => { it('b', () => { if (x) { return }\n", 20000) +
			strings.Repeat("}) })\n", 20000),
		"4 MB of nested definitions": strings.Repeat("class a { it('b', () => {", 4<<20/25),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(2 * len(text)))
			for b.Loop() {
				code.Examine([]change.File{{Path: "a.test.ts", OldPath: "a.test.ts", Before: []byte(text), After: []byte(text + "\nx")}}, nil)
			}
		})
	}
	b.Run("635 renamed files", func(b *testing.B) {
		var files []change.File
		for i := range 635 {
			text := []byte(strings.Repeat("#[test]\nfn a() {\n    assert_eq!(b(1), 2);\n}\n", 400))
			files = append(files, change.File{Path: fmt.Sprintf("new/%d.rs", i), OldPath: fmt.Sprintf("old/%d.rs", i), Before: text, After: text})
		}
		for b.Loop() {
			code.Examine(files, nil)
		}
	})
}
