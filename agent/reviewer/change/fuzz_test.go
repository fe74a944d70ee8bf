package change

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/worktree/diff"
)

// FuzzUnderstand: each file of any change is either to be
// read in exactly one part or left out with a reason, one line of the overview is about it,
// and nothing is written but numbered files.
func FuzzUnderstand(f *testing.F) {
	f.Add("a.go", "", 2, "100644", "100644", []byte("diff --git a/a.go b/a.go\n@@ -1 +1 @@\n-a\n+b\n"), 1, 1)
	f.Add("../../etc/passwd", "/etc/passwd", 3, "100644", "120000", []byte("@@ -0,0 +1 @@\n+../../x\n"), 0, 1)
	f.Add("yarn.lock\n- b.go (added +1 -0)", "", 0, "000000", "100644", []byte("@@ -0,0 +1,3 @@\n+x"), 3, 0)
	f.Add("vendor/\xff/x.min.js", "x", 1, "100644", "000000", []byte(strings.Repeat("x", 3000)), 0, 999999999)
	f.Add("lib", "", 5, "160000", "100644", []byte("-Subproject commit 0123456789abcdef\n"), -1, 0)
	f.Add(".", "..", 4, "", "", []byte(nil), 0, 0)
	statuses := []string{"added", "deleted", "modified", "renamed", "mode-changed", "type-changed"}
	f.Fuzz(func(t *testing.T, path, old string, status int, oldMode, newMode string, patch []byte, added, deleted int) {
		dir, checkout := t.TempDir(), t.TempDir()
		one := diff.File{
			Path: path, OldPath: old, Status: statuses[uint(status)%uint(len(statuses))], OldMode: oldMode, NewMode: newMode, Patch: patch,
			Added: added, Deleted: deleted,
			Submodule: oldMode == "160000" || newMode == "160000", Truncated: added < 0,
		}
		other := diff.File{Path: "go.mod", Status: "modified", OldMode: "100644", NewMode: "100644",
			Patch: []byte("@@ -1 +1 @@\n-a\n+b\n"), Added: 1, Deleted: 1}
		c, err := Understand(t.Context(), Source{Diff: diff.Diff{Files: []diff.File{one, other}}, Checkout: checkout, Dir: dir,
			Skip: scope("skip/**")})
		if err != nil {
			t.Fatal(err)
		}
		seen := len(c.LeftOut)
		for _, part := range c.Parts {
			seen += len(part)
		}
		if seen != 2 || len(c.Files)+len(c.LeftOut) != 2 || c.Tier != Full {
			t.Errorf("%d files, %d left out, %d in parts, tier %s", len(c.Files), len(c.LeftOut), seen, c.Tier)
		}
		for _, l := range c.LeftOut {
			if l.Reason == "" {
				t.Errorf("%q is left out without a reason", l.Path)
			}
		}
		overview, err := os.ReadFile(c.Overview)
		if err != nil || strings.Count(string(overview), "\n- ") != 2 {
			t.Errorf("%v\n%s", err, overview)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if ok, err := filepath.Match("000[0-9].patch", e.Name()); e.Name() != "overview.md" && (!ok || err != nil) {
				t.Errorf("%s is written", e.Name())
			}
		}
	})
}
