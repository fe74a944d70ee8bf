package diff_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"touchstone/worktree/diff"
)

func TestLinesHaveTheirNumbersOnBothSides(t *testing.T) {
	const patch = `diff --git a/f b/f
index 1..2 100644
--- a/f
+++ b/f
@@ -1,3 +1,3 @@ func f() {
 one
-two
--- not a header
+zwei
+@@ -9 +9 @@ not a hunk
@@ -10 +10 @@
-old
\ No newline at end of file
+new
`
	var got strings.Builder
	for l := range diff.Lines([]byte(patch)) {
		fmt.Fprintf(&got, "%c %d %d %s\n", l.Sign, l.Old, l.New, l.Raw)
	}
	const want = `@ 0 0 @@ -1,3 +1,3 @@ func f() {
  1 1  one
- 2 0 -two
- 3 0 --- not a header
+ 0 2 +zwei
+ 0 3 +@@ -9 +9 @@ not a hunk
@ 0 0 @@ -10 +10 @@
- 10 0 -old
\ 0 0 \ No newline at end of file
+ 0 10 +new
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestWhatGitDoesNotPrintBeginsNoHunk(t *testing.T) {
	for _, header := range []string{"@@ -1,2 +1,2", "@@ -x +1 @@", "@@ -1 1 @@", "@@ -1,-2 +1 @@", "@@ -99999999999 +1 @@",
		"@@@ -1 -1 +1 @@@", "@@  +1 @@"} {
		for l := range diff.Lines([]byte(header + "\n+line\n-line\n")) {
			t.Errorf("%q lets through %q", header, l.Raw)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"))
	f.Add([]byte("@@ -1 +0,0 @@\n-\n\\ No newline\n"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		for l := range diff.Lines(patch) {
			if !bytes.Contains(patch, l.Raw) || l.Raw[0] != l.Sign || l.Old < 0 || l.New < 0 {
				t.Errorf("%q is read as %+v", patch, l)
			}
			for again := range diff.Lines([]byte(l.Hunk.Header())) {
				if l.Sign == '@' && again.Hunk != l.Hunk {
					t.Errorf("%+v is read from the header of %+v", again.Hunk, l.Hunk)
				}
			}
		}
	})
}
