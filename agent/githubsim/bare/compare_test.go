package bare

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCompareFiles(t *testing.T) {
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("the simulator needs git: ", err)
	}
	ctx, git := t.Context(), Open(path, filepath.Join(t.TempDir(), "o", "r.git"), time.Now)
	long := strings.Repeat("the same line\n", 30)
	if err := git.Init(ctx, ""); err != nil {
		t.Fatal(err)
	}
	base, err := git.Write(ctx, "main", "", "o <o@example.com>", "begin", map[string]string{
		"old name": long, "gone": "gone\n", "binary": "a\x00b", "changed": "one\ntwo\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	head, err := git.Write(ctx, "feature", base, "o <o@example.com>", "change", map[string]string{
		"old name": "", "new name": long + "more\n", "gone": "", "binary": "a\x00c", "changed": "one\nthree\nfour\n", "ümlaut": "x\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	diff, err := git.Compare(ctx, base, head)
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		{Path: "binary", Status: "modified"},
		{Path: "changed", Status: "modified", Additions: 2, Deletions: 1, Patch: "@@ -1,2 +1,3 @@\n one\n-two\n+three\n+four"},
		{Path: "gone", Status: "removed", Deletions: 1, Patch: "@@ -1 +0,0 @@\n-gone"},
		{Path: "new name", Previous: "old name", Status: "renamed", Additions: 1},
		{Path: "ümlaut", Status: "added", Additions: 1, Patch: "@@ -0,0 +1 @@\n+x"},
	}
	if len(diff.Files) != len(want) {
		t.Fatalf("files %+v", diff.Files)
	}
	for i, got := range diff.Files {
		if len(got.Blob) != 40 {
			t.Errorf("%s: blob %q", got.Path, got.Blob)
		}
		if got.Blob = ""; got.Path == "new name" {
			got.Patch = ""
		}
		if got != want[i] {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
	on, err := git.Commit(base)
	if err != nil {
		t.Fatal(err)
	}
	files, err := git.Files(on.Tree)
	const gone = "0100644 286c5f5776916d7d7d5849988ca9d83e722cf9c2"
	if err != nil || len(files) != 4 || files["gone"] != gone {
		t.Errorf("the base has %v, %v", files, err)
	}
	if diff.Additions != 4 || diff.Deletions != 2 || len(diff.Commits) != 1 || diff.Commits[0].Message != "change" {
		t.Errorf("got %+v", diff)
	}
}

const twoHunks = "@@ -1,3 +1,4 @@ package main\n one\n-two\n+zwei\n+more\n three\n@@ -10,2 +11,2 @@\n ten\n-eleven\n+elf\n\\ No newline " +
	"at end of file"

func TestALineOfAPatchHasItsPositionAndHunk(t *testing.T) {
	for _, tt := range []struct {
		side           string
		line           int
		position, hunk int
		ok             bool
	}{
		{"RIGHT", 1, 1, 1, true},
		{"RIGHT", 2, 3, 1, true},
		{"LEFT", 2, 2, 1, true},
		{"RIGHT", 4, 5, 1, true},
		{"RIGHT", 12, 9, 2, true},
		{"LEFT", 11, 8, 2, true},
		{"RIGHT", 5, 0, 0, false},
		{"RIGHT", 13, 0, 0, false},
		{"LEFT", 0, 0, 0, false},
	} {
		position, hunk, ok := Anchor(twoHunks, tt.side, tt.line)
		if position != tt.position || ok != tt.ok || ok && hunk != tt.hunk {
			t.Errorf("%s %d: got %d in hunk %d, %v, want %+v", tt.side, tt.line, position, hunk, ok, tt)
		}
	}
}

// A found place is a line of the patch on the requested side.
func FuzzAnchor(f *testing.F) {
	f.Add(twoHunks, "RIGHT", 2)
	f.Add("@@ -1 +0,0 @@\n-gone", "LEFT", 1)
	f.Add("@@", "", -1)
	f.Fuzz(func(t *testing.T, patch, side string, line int) {
		position, _, ok := Anchor(patch, side, line)
		if !ok {
			return
		}
		lines := strings.Split(patch, "\n")
		if position < 0 || position >= len(lines) {
			t.Fatalf("position %d of %d lines", position, len(lines))
		}
		if text := lines[position]; side == "LEFT" && strings.HasPrefix(text, "+") || side != "LEFT" && strings.HasPrefix(text, "-") {
			t.Fatalf("%q is not of side %s", text, side)
		}
	})
}
