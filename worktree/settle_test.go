package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/worktree/await"
)

func TestTakeBaseSettlesAConflict(t *testing.T) {
	r := newRemote(t)
	req, main := r.conflict()
	req.Base = main
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	merge, err := tree.Merge(t.Context(), main, "Merge main", me)
	if err != nil || !slices.Equal(merge.Conflicts, []string{"gone.txt", "image.bin", "main.txt"}) {
		t.Fatalf("%+v, %v", merge, err)
	}
	must(t, tree.TakeBase(t.Context(), "main.txt"))
	writeTest(t, filepath.Join(tree.Dir(), "main.txt"), "spoilt\n")
	must(t, tree.Reopen(t.Context(), "main.txt"))
	if left, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree)); err != nil || !slices.Contains(left, "main.txt") ||
		!strings.Contains(read(t, tree.Dir(), "main.txt"), "\ntwo\n=======\ntheirs\n") {
		t.Errorf("left are %q, %v; the file is %s", left, err, read(t, tree.Dir(), "main.txt"))
	}
	for _, path := range merge.Conflicts {
		must(t, tree.TakeBase(t.Context(), path))
	}
	if left, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree)); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if read(t, tree.Dir(), "main.txt") != "one\ntheirs\nthree\n" || read(t, tree.Dir(), "image.bin") != "\x00theirs" {
		t.Error("the tree does not hold the base's versions")
	}
	if exists(filepath.Join(tree.Dir(), "gone.txt")) {
		t.Error("what the base deleted is still there")
	}
	if err := tree.TakeBase(t.Context(), "main.txt"); err == nil {
		t.Error("a file without a conflict was settled")
	}
	if _, err := tree.Commit(t.Context(), "Merge main", me); err != nil {
		t.Error(err)
	}
}

// TestReopenOfADeletedFile brings back conflicts between a change to a file and its deletion.
func TestReopenOfADeletedFile(t *testing.T) {
	r := newRemote(t)
	for _, name := range []string{"ours.lock", "theirs.lock"} {
		r.write(name, "one\n")
	}
	req := r.pull()
	r.git("rm", "-q", "theirs.lock")
	r.write("ours.lock", "two\n")
	req.Head = r.commit(req.HeadRef)
	r.git("checkout", "-q", "main")
	r.git("rm", "-q", "ours.lock")
	r.write("theirs.lock", "three\n")
	req.Base = r.commit("refs/heads/main")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	merge, err := tree.Merge(t.Context(), req.Base, "Merge main", me)
	if err != nil || !slices.Equal(merge.Conflicts, []string{"ours.lock", "theirs.lock"}) {
		t.Fatalf("%+v, %v", merge, err)
	}
	before := run(t, tree.Dir(), "git", "ls-files", "--unmerged")
	for path, want := range map[string]string{"ours.lock": "two\n", "theirs.lock": "three\n"} {
		must(t, tree.TakeBase(t.Context(), path))
		writeTest(t, filepath.Join(tree.Dir(), path), "half of it\n")
		must(t, tree.Reopen(t.Context(), path))
		if got := read(t, tree.Dir(), path); got != want {
			t.Errorf("%s holds %q, want %q", path, got, want)
		}
	}
	if after := run(t, tree.Dir(), "git", "ls-files", "--unmerged"); after != before {
		t.Errorf("the conflicts are\n%s\nwant\n%s", after, before)
	}
	if left, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree)); err != nil || !slices.Equal(left, merge.Conflicts) {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestDiscardLeavesWhatIsCommittedOrIgnored(t *testing.T) {
	r := newRemote(t)
	r.write(".gitignore", "cache/\n")
	req := r.pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	for name, text := range map[string]string{"topic.txt": "edited\n", "coverage.out": "new\n", "cache/x": "kept\n", "dir/new": "new\n"} {
		writeTest(t, filepath.Join(tree.Dir(), name), text)
	}
	run(t, tree.Dir(), "git", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--all", "--message=mine")
	must(t, tree.Discard(t.Context(), req.Head))
	if head, err := tree.Head(t.Context()); head != req.Head || err != nil {
		t.Errorf("HEAD is at %s, want %s: %v", head, req.Head, err)
	}
	if read(t, tree.Dir(), "topic.txt") != "hello\n" || read(t, tree.Dir(), "cache/x") != "kept\n" {
		t.Error("what is committed or ignored is gone")
	}
	for _, name := range []string{"coverage.out", "dir"} {
		if _, err := os.Stat(filepath.Join(tree.Dir(), name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// TestAnEditWithinTheSecondIsSeen edits a file without changing its length in the second of the checkout,
// when git cannot detect the edit by the file's times.
func TestAnEditWithinTheSecondIsSeen(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	for {
		tree := acquire(t, s, req)
		path := filepath.Join(tree.Dir(), "topic.txt")
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		writeTest(t, path, "HELLO\n")
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if after.ModTime().Unix() != before.ModTime().Unix() {
			release(t, tree)
			continue // the second was over; the next checkout writes the file anew
		}
		// A copy of the index that is dated later would count as written after the edit.
		await.Until(t, "the next second", func() bool { return time.Now().Unix() > before.ModTime().Unix() })
		diff, err := tree.DiffSnapshot(t.Context(), req.Head, snapshot(t, tree))
		if err != nil || len(diff.Files) != 1 {
			t.Errorf("%+v, %v; want the edit", diff.Files, err)
		}
		return
	}
}
