package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"touchstone/worktree/diff"
)

// hellish are names that break careless readers of git's output.
var hellish = []string{
	"plain", "with space", "new\nline", "tab\there", `quo"te`, `back\slash`, "latin1-\xe9\xff", "ünï",
	"-rf", "x\ndiff --git a/y b/y", "a => b", "{x => y}/z", "@@ -1 +1 @@", ":(glob)*", "trailing ",
}

func TestDiffKeepsUnusualFileNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux file systems take any byte in a name")
	}
	r := newRemote(t)
	for i, name := range hellish {
		r.write(filepath.Join("old", name), fmt.Sprintf("file %d\n", i)+strings.Repeat("same\n", 20))
		r.write(filepath.Join("edit", name), fmt.Sprintf("edit %d\nsame\n", i))
		r.write(filepath.Join("gone", name), fmt.Sprintf("gone %d\n", i))
	}
	req := r.pull()
	for i, name := range hellish {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(r.work, "new", name)), 0o755))
		must(t, os.Rename(filepath.Join(r.work, "old", name), filepath.Join(r.work, "new", name)))
		r.write(filepath.Join("edit", name), fmt.Sprintf("edited %d\nsame\nmore\n", i))
		must(t, os.Remove(filepath.Join(r.work, "gone", name)))
	}
	req.Head = r.commit("refs/heads/topic")
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	d, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]diff.File{}
	for _, f := range d.Files {
		got[f.Path] = f
	}
	if len(d.Files) != 3*len(hellish)+1 {
		t.Errorf("%d files, want %d", len(d.Files), 3*len(hellish)+1)
	}
	for i, name := range hellish {
		if f := got["new/"+name]; f.Status != "renamed" || f.OldPath != "old/"+name {
			t.Errorf("%q: %+v", name, f)
		}
		if f := got["edit/"+name]; f.Status != "modified" || f.Added != 2 || f.Deleted != 1 ||
			!strings.Contains(string(f.Patch), fmt.Sprintf("\n+edited %d\n", i)) {
			t.Errorf("%q: %+v", name, f)
		}
		if f := got["gone/"+name]; f.Status != "deleted" || f.Deleted != 1 {
			t.Errorf("%q: %+v", name, f)
		}
		if _, err := tree.ReadFile(t.Context(), req.Head, "edit/"+name); err != nil && !strings.Contains(name, "\xff") {
			t.Errorf("%q: %v", name, err)
		}
		writeTest(t, filepath.Join(tree.Dir(), "edit", name), "by the author\n<<<<<<< x\n")
	}
	wantMarkers(t, tree, sorted("edit/", hellish)...)
	if changed := touched(t, tree, req.Head); !slices.Equal(changed, sorted("edit/", hellish)) {
		t.Errorf("changed: %q", changed)
	}
	if _, err := tree.Commit(t.Context(), "author", me); err != nil {
		t.Error(err)
	}
}

// touched are the names of the files that differ from a commit, sorted.
func touched(t *testing.T, tree *Tree, since string) []string {
	t.Helper()
	d, err := tree.DiffSnapshot(t.Context(), since, snapshot(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range d.Files {
		names = append(names, f.Path)
	}
	slices.Sort(names)
	return names
}

func sorted(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = prefix + n
	}
	slices.Sort(out)
	return out
}

func TestDiffKinds(t *testing.T) {
	r := newRemote(t)
	r.write("mode", "#!/bin/sh\n")
	r.write("becomes-link", "text\n")
	r.write("binary", "\x00\x01")
	r.write("no-newline", "a")
	r.write("forged", "x\n")
	r.write("empty-gone", "")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	// A submodule that is not checked out is an empty directory.
	must(t, os.Mkdir(filepath.Join(r.work, "sub"), 0o755))
	req := r.pull()
	must(t, os.Chmod(filepath.Join(r.work, "mode"), 0o755))
	must(t, os.Remove(filepath.Join(r.work, "becomes-link")))
	must(t, os.Symlink("/etc/passwd", filepath.Join(r.work, "becomes-link")))
	r.write("binary", "\x00\x02")
	r.write("no-newline", "b")
	r.write("forged", "x\n--- a/other\n+++ b/other\n@@ -1 +1 @@\ndiff --git a/z b/z\nBinary files a and b differ\n\r\n\\ No newline at end "+
		"of file\n")
	r.write("empty-new", "")
	r.write("crlf", "a\r\nb\r\n")
	r.write("long", strings.Repeat("x", 200_000)+"\n+y\n")
	r.git("rm", "-q", "empty-gone")
	r.git("update-index", "--cacheinfo", "160000,"+strings.Repeat("2", 40)+",sub")
	req.Head = r.commit("refs/heads/topic")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	d, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type kind struct {
		status           string
		added, deleted   int
		binary, sub, cut bool
	}
	got := map[string]kind{}
	for _, f := range d.Files {
		got[f.Path] = kind{f.Status, f.Added, f.Deleted, f.Binary, f.Submodule, f.Truncated}
	}
	want := map[string]kind{
		"mode":         {status: "mode-changed"},
		"becomes-link": {status: "type-changed", added: 1, deleted: 1},
		"binary":       {status: "modified", binary: true},
		"no-newline":   {status: "modified", added: 1, deleted: 1},
		"forged":       {status: "modified", added: 7},
		"empty-gone":   {status: "deleted"},
		"empty-new":    {status: "added"},
		"crlf":         {status: "added", added: 2},
		"long":         {status: "added", added: 2},
		"sub":          {status: "modified", added: 1, deleted: 1, sub: true},
		"topic.txt":    {status: "added", added: 1},
	}
	// Git may pair the two empty files as a rename; either reading is right.
	if got["empty-new"].status == "renamed" {
		delete(want, "empty-gone")
		want["empty-new"] = kind{status: "renamed"}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if d.Truncated {
		t.Error("truncated")
	}
}

func TestDiffIsBounded(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	const most = 1 << 20
	r.write("huge", strings.Repeat("0123456789abcde\n", 2*most/16))
	req.Head = r.commit("refs/heads/topic")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	d, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Files, func(f diff.File) bool { return f.Path == "huge" })
	f := d.Files[i]
	if !d.Truncated || !f.Truncated || len(f.Patch) != most || f.Added != 2*most/16 {
		t.Errorf("truncated %v, %v, patch %d bytes, %d lines", d.Truncated, f.Truncated, len(f.Patch), f.Added)
	}
}
