package diff

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	raw := ":100644 100644 " + strings.Repeat("1", 40) + " " + strings.Repeat("2", 40)
	f.Add([]byte(raw + " M\x00a\x00\x00diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@ f\n-x\n+y\n z\n"))
	f.Add([]byte(raw + " R086\x00a\x00b\x00\x00diff --git a/a b/b\nsimilarity index 86%\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n"))
	f.Add([]byte(raw + " T\x00a\x00\x00diff --git a/a b/a\ndeleted file mode 100644\ndiff --git a/a b/a\nnew file mode 120000\n"))
	f.Add([]byte(raw + " M\x00a\x00\x00diff --git a/a b/a\nBinary files a/a and b/a differ\n"))
	f.Add([]byte(""))
	f.Add([]byte(raw + " M\x00a\x00\x00diff --git a/a b/a\n@@ -1,99999999 +1 @@\n+x\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Parse(bytes.NewReader(in))
		if err != nil {
			return
		}
		patches := 0
		for _, file := range d.Files {
			var lines int
			for _, h := range file.Hunks {
				if h.OldLines < 0 || h.NewLines < 0 {
					t.Fatalf("hunk %+v", h)
				}
				lines += h.NewLines
			}
			if file.Added > lines || file.Status == "" {
				t.Fatalf("%d lines added in hunks of %d: %+v", file.Added, lines, file)
			}
			patches += len(file.Patch)
		}
		if patches > len(in) {
			t.Fatal("the patches are longer than the input")
		}
	})
}
