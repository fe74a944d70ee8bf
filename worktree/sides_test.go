package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/worktree/diff"
)

func TestSidesAreBothContents(t *testing.T) {
	r := newRemote(t)
	r.write("edited.txt", "before\n")
	r.write("gone.txt", "gone\n")
	r.write("old.txt", strings.Repeat("same\n", 20))
	r.write("empty.txt", "")
	req := r.pull()
	r.write("edited.txt", "after\n")
	r.git("rm", "-q", "gone.txt")
	r.git("mv", "old.txt", "new.txt")
	r.write("new.txt", strings.Repeat("same\n", 20)+"more\n")
	r.write("added.txt", "no line feed")
	r.write("empty.txt", "no longer\n")
	r.write("large.txt", strings.Repeat("x", 101))
	r.write("unwanted.txt", "x")
	req.Head = r.commit("refs/heads/topic")
	store := &Store{Root: t.TempDir()}
	tree := acquire(t, store, req)
	must(t, writeFile(tree.Dir()+"/edited.txt", "in the tree\n"))
	committed, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	working, err := tree.DiffSnapshot(t.Context(), req.Base, snapshot(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(path string) bool { return path != "unwanted.txt" && path != "topic.txt" }
	of := func(d diff.Diff) func() ([]Sides, error) {
		return func() ([]Sides, error) { return tree.Sides(t.Context(), d, wanted, 105) }
	}
	for _, tc := range []struct {
		read   func() ([]Sides, error)
		edited string
	}{
		{of(committed), "after\n"}, {of(working), "in the tree\n"},
		{func() ([]Sides, error) { return store.Sides(t.Context(), req, wanted, 105) }, "after\n"},
	} {
		sides, err := tc.read()
		if err != nil {
			t.Fatal(err)
		}
		want := []Sides{
			{Path: "added.txt", After: []byte("no line feed")},
			{Path: "edited.txt", OldPath: "edited.txt", Before: []byte("before\n"), After: []byte(tc.edited)},
			{Path: "empty.txt", OldPath: "empty.txt", Before: []byte{}, After: []byte("no longer\n")},
			{OldPath: "gone.txt", Before: []byte("gone\n")},
			{Path: "large.txt", After: []byte(strings.Repeat("x", 101))},
			{Path: "new.txt", OldPath: "old.txt", Before: []byte(strings.Repeat("same\n", 20)),
				After: []byte(strings.Repeat("same\n", 20) + "more\n")},
		}
		if len(sides) != len(want) {
			t.Fatalf("%d files, want %d: %+v", len(sides), len(want), sides)
		}
		for i, w := range want {
			if got := sides[i]; got.Path != w.Path || got.OldPath != w.OldPath || string(got.Before) != string(w.Before) ||
				string(got.After) != string(w.After) || (got.After == nil) != (w.After == nil) || got.Unread != w.Unread {
				t.Errorf("got %+v, want %+v", got, w)
			}
		}
	}
	sides, err := tree.Sides(t.Context(), committed, func(path string) bool { return path == "large.txt" }, 100)
	if err != nil || len(sides) != 1 || !sides[0].Unread || sides[0].After != nil {
		t.Errorf("a large file: %+v, %v", sides, err)
	}
	if sides, err := tree.Sides(t.Context(), committed, func(string) bool { return false }, 1); len(sides) > 0 || err != nil {
		t.Errorf("nothing wanted: %+v, %v", sides, err)
	}
}

// TestReadFileOutlivesARepack repacks the mirror between two reads, as another process may do at any time.
func TestReadFileOutlivesARepack(t *testing.T) {
	_, req, s, tree := acquired(t)
	read := func(name string) (string, error) {
		text, err := tree.ReadFile(t.Context(), req.Head, name)
		return string(text), err
	}
	if text, err := read("main.txt"); err != nil || text != "one\ntwo\nthree\n" {
		t.Fatalf("%q, %v", text, err)
	}
	mirror := filepath.Join(s.Root, "acme", "app", "mirror.git")
	run(t, mirror, "git", "repack", "-a", "-d", "-f", "-q", "--depth=1")
	if text, err := read("topic.txt"); err != nil || text != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
	// What cannot be read is not what is not there.
	packs, err := filepath.Glob(filepath.Join(mirror, "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, pack := range packs {
		must(t, os.Remove(pack))
	}
	tree.objects = nil
	if text, err := read("topic.txt"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its pack: %q, %v", text, err)
	}
}
