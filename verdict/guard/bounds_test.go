package guard_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"touchstone/verdict/guard"
	"touchstone/verdict/guard/guardtest"
)

func TestTooLargeIsSaid(t *testing.T) {
	large := make([]byte, guard.MaxFile+1)
	for name, f := range map[string]guard.File{
		"after":  {Path: "a_test.go", OldPath: "a_test.go", After: large},
		"before": {Path: "codecov.yml", OldPath: "codecov.yml", Before: large},
		"unread": {Path: "a.py", OldPath: "a.py", Unread: true},
	} {
		hits := guard.Examine(guard.Change{Files: []guard.File{f}})
		if len(hits) != 1 || hits[0].Kind != guard.Unexamined || hits[0].Path != f.Path {
			t.Errorf("%s: %+v", name, hits)
		}
	}
	if hits := guard.Examine(guard.Change{Files: []guard.File{{Path: "film.mp4", After: large, Unread: true}}}); len(hits) != 0 {
		t.Errorf("a file that no rule speaks of: %+v", hits)
	}
}

func TestTooMuchIsSaid(t *testing.T) {
	half := bytes.Repeat([]byte("# a line as long as most are in files of this kind, 64 bytes...\n"), guard.MaxFile/64)
	var change guard.Change
	for range guard.MaxChange/guard.MaxFile + 1 {
		change.Files = append(change.Files, guard.File{Path: "codecov.yml", OldPath: "codecov.yml", After: half})
	}
	hits := guard.Examine(change)
	if len(hits) != 1 || hits[0].Kind != guard.Unexamined {
		t.Errorf("%d hits, want one that says what was not examined: %+v", len(hits), hits)
	}
}

func TestHitsAreBounded(t *testing.T) {
	f := guard.File{Path: "a.go", After: []byte("package a\n" + strings.Repeat("var x = "+strings.Repeat("y", 1000)+" //nolint\n", 500))}
	hits := guard.Examine(guard.Change{Files: []guard.File{f}})
	if len(hits) != guard.MaxHits+1 || hits[guard.MaxHits].Kind != guard.Unexamined {
		t.Fatalf("%d hits, want %d and one that says how many more", len(hits), guard.MaxHits)
	}
	if n := len(hits[0].After); n > 310 {
		t.Errorf("a hit quotes %d bytes", n)
	}
}

func TestUTF16IsRead(t *testing.T) {
	before := "public class A {}\n"
	after := "#pragma warning disable CS0168\n" + before
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		encode := func(text string) []byte {
			out := order.AppendUint16(nil, 0xFEFF)
			for _, unit := range utf16.Encode([]rune(text)) {
				out = order.AppendUint16(out, unit)
			}
			return out
		}
		hits := guard.Examine(guard.Change{Files: []guard.File{{Path: "A.cs", OldPath: "A.cs", Before: encode(before), After: encode(after)}}})
		if len(hits) != 1 || hits[0].Kind != guard.Suppression || hits[0].Line != 1 {
			t.Errorf("%s endian: %+v", name, hits)
		}
	}
}

func TestEveryKindHasItsRule(t *testing.T) {
	want := map[guard.Kind]string{
		guard.Threshold: "severity/Q1", guard.Strictness: "severity/Q2", guard.Suppression: "severity/Q3", guard.Test: "severity/Q4",
		guard.Assertion: "severity/Q5", guard.CI: "severity/Q6", guard.Policy: "severity/Q7", guard.Unexamined: "",
	}
	for kind, rule := range want {
		if got := kind.Rule(); got != rule {
			t.Errorf("%s: %q, want %q", kind, got, rule)
		}
	}
}

func FuzzExamine(f *testing.F) {
	for _, dir := range []string{"hit", "pass"} {
		all, err := guardtest.Read(filepath.Join("testdata", dir))
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range all {
			one := s.Change.Files[0]
			f.Add(one.OldPath, one.Path, one.Before, one.After)
		}
	}
	f.Add("a.go", "a.go", []byte("0"), []byte(".0 0("))
	f.Fuzz(func(t *testing.T, old, path string, before, after []byte) {
		change := guard.Change{Files: []guard.File{{Path: path, OldPath: old, Before: before, After: after}}}
		hits := guard.Examine(change)
		if len(hits) > guard.MaxHits+1 {
			t.Fatalf("%d hits", len(hits))
		}
		for _, h := range hits {
			if h.Line < 0 || h.Line > 1+bytes.Count(before, []byte("\n"))+bytes.Count(after, []byte("\n")) || len(h.Before) > 310 || len(h.After) > 310 {
				t.Fatalf("a hit beyond its bounds: %+v", h)
			}
		}
		same := guard.Change{Files: []guard.File{{Path: path, OldPath: path, Before: after, After: after}}}
		if hits := guard.Examine(same); len(hits) > 0 {
			t.Fatalf("a file that did not change: %+v", hits)
		}
	})
}

// BenchmarkRewritten is a test of 2,000 lines of which every one changed.
func BenchmarkRewritten(b *testing.B) {
	test := func(format string) []byte {
		var out strings.Builder
		out.WriteString("package a\n\nfunc TestAppend(t *testing.T) {\n")
		for i := range 1000 {
			fmt.Fprintf(&out, format, i, i)
		}
		return []byte(out.String() + "}\n")
	}
	before, after := test("\tif got := f(%d); got != %d {\n\t\tt.Fatal(got)\n\t}\n"), test("\tgot = g(%d)\n\trequire.Equal(t, %d, got)\n")
	for b.Loop() {
		guard.Examine(guard.Change{Files: []guard.File{{Path: "a_test.go", OldPath: "a_test.go", Before: before, After: after}}})
	}
}

// BenchmarkExamine is a change of 300 source files of 1,000 lines each.
func BenchmarkExamine(b *testing.B) {
	line := "	if err := store.Append(ctx, event); err != nil { return fmt.Errorf(\"append: %w\", err) }\n"
	var change guard.Change
	for range 20 {
		text := []byte("package a\n\nfunc TestAppend(t *testing.T) {\n" + strings.Repeat(line, 1000) + "}\n")
		change.Files = append(change.Files, guard.File{Path: "a/a_test.go", OldPath: "a/a_test.go", Before: text, After: append(text, '\n')})
	}
	for b.Loop() {
		guard.Examine(change)
	}
}
