package change

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNumbersAreThoseOfTheFiles holds every row against the line that it says it is, in files
// whose lines repeat and that are edited at random.
func TestNumbersAreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	before, after := map[string]string{}, map[string]string{}
	lines := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = []string{"", "}", "\t}", "+x", "-x", "@@ -1 +1 @@", " spaced", "def f():", "    x = 1", "    def g(self):",
				"class A:"}[random.IntN(11)]
		}
		return all
	}
	for i := range 12 {
		old := lines(200)
		new := slices.Clone(old)
		for range 8 {
			at := random.IntN(len(new))
			new = slices.Replace(new, at, min(len(new), at+random.IntN(4)), lines(random.IntN(5))...)
		}
		name := fmt.Sprintf("f%02d", i) + []string{"", ".py", ".ts"}[i%3]
		before[name], after[name] = strings.Join(old, "\n"), strings.Join(new, "\n")
	}
	c := changed(t, before, after)
	if len(c.Files) != len(before) {
		t.Fatalf("%d files", len(c.Files))
	}
	for _, f := range c.Files {
		old, new := strings.Split(before[f.Path], "\n"), strings.Split(after[f.Path], "\n")
		added, deleted := 0, 0
		for _, row := range strings.Split(strings.TrimSuffix(patch(t, f), "\n"), "\n")[2:] {
			var before, after int
			if _, err := fmt.Sscan(row[:7], &before); err == nil && old[before-1] != row[17:] {
				t.Errorf("%s: line %d was %q, not %q", f.Path, before, old[before-1], row[17:])
			}
			if _, err := fmt.Sscan(row[8:15], &after); err == nil && new[after-1] != row[17:] {
				t.Errorf("%s: line %d is %q, not %q", f.Path, after, new[after-1], row[17:])
			}
			if before > 0 && after == 0 {
				deleted++
			} else if after > 0 && before == 0 {
				added++
			}
		}
		if added != f.Added || deleted != f.Deleted || added+deleted == 0 {
			t.Errorf("%s: %d lines added and %d deleted, of %d and %d", f.Path, added, deleted, f.Added, f.Deleted)
		}
	}
}

// FuzzNumber: each changed line of any diff is there once with one number
// on its own side, and no row is wider than tools read.
func FuzzNumber(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@ func\n a\n-b\n+c\n+@@ -1 +1 @@\n\\ No newline at end of file\n@@ " +
		"-9 +10 @@\n-x\n+y\n"))
	f.Add([]byte("@@ -0,0 +1,999999999 @@\n+\n"))
	f.Add([]byte("@@ -1 +1 @@\n--- a\n+++ b\n"))
	f.Add([]byte("@@ -1,3 +1,3 @@\n \n\xff\n+"))
	f.Add([]byte("@@ -1 +1 @@\n-" + strings.Repeat("é", 2000) + "\n+\r\x00\x1b[2J"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		out := string(numbered(patch))
		olds, news := map[int]bool{}, map[int]bool{}
		for row := range strings.Lines(out) {
			if len(row) > maxRow+40 || row[len(row)-1] != '\n' || !utf8.ValidString(row) {
				t.Errorf("a row %q", row)
			}
			old, new, change := row[:7], row[8:15], row[16:]
			hasOld, hasNew := strings.TrimSpace(old) != "", strings.TrimSpace(new) != ""
			switch {
			case strings.HasPrefix(change, continued):
			case change[0] == '+' && (hasOld || !hasNew), change[0] == '-' && (!hasOld || hasNew), change[0] == ' ' && hasOld != hasNew:
				t.Errorf("the row %q", row)
			}
			for text, seen := range map[string]map[int]bool{old: olds, new: news} {
				var n int
				if _, err := fmt.Sscan(text, &n); err == nil && bytes.Count(patch, []byte("@@ -")) == 1 {
					if seen[n] {
						t.Errorf("line %d twice:\n%s", n, out)
					}
					seen[n] = true
				}
			}
		}
	})
}

// FuzzSpell: no path can be taken for more than one.
func FuzzSpell(f *testing.F) {
	for _, seed := range []string{"a/b.go", "a b", "a\nb", "`", "<!-- x -->", "\xff", "\u202e", "a|b", `a"b`, `a\b`, "ünï"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		s := Spell(path)
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00<>`|\u202e\u200b") {
			t.Errorf("%q is spelled %q", path, s)
		}
		if s != path && (s[0] != '"' || s[len(s)-1] != '"') {
			t.Errorf("%q is spelled %q", path, s)
		}
	})
}
