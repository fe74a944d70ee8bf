package change

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzNumber: whatever a diff says, each of its changed lines is there once with one number
// on its own side, and no row is wider than tools read.
func FuzzNumber(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@ func\n a\n-b\n+c\n+@@ -1 +1 @@\n\\ No newline at end of file\n@@ -9 +10 @@\n-x\n+y\n"))
	f.Add([]byte("@@ -0,0 +1,999999999 @@\n+\n"))
	f.Add([]byte("@@ -1 +1 @@\n--- a\n+++ b\n"))
	f.Add([]byte("@@ -1,3 +1,3 @@\n \n\xff\n+"))
	f.Add([]byte("@@ -1 +1 @@\n-" + strings.Repeat("é", 2000) + "\n+\r\x00\x1b[2J"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		var out bytes.Buffer
		if err := number(patch, func(row []byte) error {
			if len(row) > maxRow+40 || row[len(row)-1] != '\n' || bytes.Count(row, []byte("\n")) != 1 || !utf8.Valid(row) {
				t.Errorf("a row %q", row)
			}
			out.Write(row)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		olds, news := map[int]bool{}, map[int]bool{}
		for row := range strings.Lines(out.String()) {
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
						t.Errorf("line %d twice:\n%s", n, out.String())
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
