package githubsim

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompareFiles(t *testing.T) {
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("the simulator needs git: ", err)
	}
	ctx, git := t.Context(), newGitRepo(path, filepath.Join(t.TempDir(), "o", "r.git"), &clock{})
	long := strings.Repeat("the same line\n", 30)
	err = git.prepare(ctx, RepoOptions{Owner: "o", Name: "r", Files: map[string]string{
		"old name": long, "gone": "gone\n", "binary": "a\x00b", "changed": "one\ntwo\n",
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{git: git, comparisons: map[[2]string]*comparison{}}
	if err := r.load(); err != nil {
		t.Fatal(err)
	}
	base := r.refs["refs/heads/main"]
	head, err := git.write(ctx, "feature", base, "o <o@example.com>", "change", map[string]string{
		"old name": "", "new name": long + "more\n", "gone": "", "binary": "a\x00c", "changed": "one\nthree\nfour\n", "ümlaut": "x\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	diff, err := r.compare(ctx, base, head)
	if err != nil {
		t.Fatal(err)
	}
	want := []file{
		{path: "binary", status: "modified"},
		{path: "changed", status: "modified", additions: 2, deletions: 1, patch: "@@ -1,2 +1,3 @@\n one\n-two\n+three\n+four"},
		{path: "gone", status: "removed", deletions: 1, patch: "@@ -1 +0,0 @@\n-gone"},
		{path: "new name", previous: "old name", status: "renamed", additions: 1},
		{path: "ümlaut", status: "added", additions: 1, patch: "@@ -0,0 +1 @@\n+x"},
	}
	if len(diff.files) != len(want) {
		t.Fatalf("files %+v", diff.files)
	}
	for i, got := range diff.files {
		if len(got.blob) != 40 {
			t.Errorf("%s: blob %q", got.path, got.blob)
		}
		if got.blob = ""; got.path == "new name" {
			got.patch = ""
		}
		if got != want[i] {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
	if diff.additions != 4 || diff.deletions != 2 || len(diff.commits) != 1 || diff.commits[0].message != "change" {
		t.Errorf("got %+v", diff)
	}
}

const twoHunks = "@@ -1,3 +1,4 @@ package main\n one\n-two\n+zwei\n+more\n three\n@@ -10,2 +11,2 @@\n ten\n-eleven\n+elf\n\\ No newline " +
	"at end of file"

func TestAnchor(t *testing.T) {
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
		position, hunk, ok := anchor(twoHunks, tt.side, tt.line)
		if position != tt.position || ok != tt.ok || ok && hunk != tt.hunk {
			t.Errorf("%s %d: got %d in hunk %d, %v, want %+v", tt.side, tt.line, position, hunk, ok, tt)
		}
	}
}

// A place that is found is a line of the patch, and one of the asked side.
func FuzzAnchor(f *testing.F) {
	f.Add(twoHunks, "RIGHT", 2)
	f.Add("@@ -1 +0,0 @@\n-gone", "LEFT", 1)
	f.Add("@@", "", -1)
	f.Fuzz(func(t *testing.T, patch, side string, line int) {
		position, _, ok := anchor(patch, side, line)
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
