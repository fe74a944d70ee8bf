package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// unconverted makes a pull request in a repository with files that were committed before its attributes had git
// convert them. Main changes, or deletes, one of them.
func unconverted(t *testing.T, change func(r *remoteRepo)) (Request, *Store) {
	r := newRemote(t)
	r.write("ends.txt", "one\r\ntwo\r\n")
	r.write("other.txt", "one\r\n")
	r.write("mixed.bat", "one\r\ntwo\n")
	r.write("id.c", "/* $Id: 12 $ */\n")
	r.write("wide.rc", "\xff\xfea\x00\n\x00")
	r.write("narrow.rc", "caf\xe9\n") // git cannot store it in that encoding
	r.git("add", "-A")
	r.write(".gitattributes", "*.txt text\n*.bat text eol=crlf\n*.c ident\n*.rc text working-tree-encoding=UTF-16\n")
	r.git("add", ".gitattributes") // but not what it would convert
	r.git("commit", "-q", "-m", "before")
	commit := func(ref string) string {
		r.git("-c", "core.attributesFile="+os.DevNull, "commit", "-q", "-m", "change")
		r.put(ref, r.git("rev-parse", "HEAD"))
		return r.at(ref)
	}
	stage := func(name, content string) {
		r.write("blob", content)
		r.git("update-index", "--add", "--cacheinfo", "100644,"+r.git("hash-object", "-w", "--no-filters", "blob")+","+name)
	}
	req := Request{Remote: Remote{URL: r.url, Authorization: authorization}, Repo: "acme/app", Number: 12,
		Role: "author", HeadRef: "refs/heads/topic", BaseRef: "refs/heads/main"}
	r.put(req.BaseRef, r.git("rev-parse", "HEAD"))
	r.git("checkout", "-q", "-b", "topic")
	stage("topic.sh", "hello\n")
	stage("ends.txt", "one\r\ntwo\r\nthree\r\n")
	req.Head = commit(req.HeadRef)
	r.git("checkout", "-q", "--force", "main")
	change(r)
	req.Base = commit(req.BaseRef)
	return req, &Store{Root: t.TempDir()}
}

// old has git read each file of a tree again, as it does with those that are as young as its index.
func old(t *testing.T, tree *Tree) {
	t.Helper()
	before := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(tree.git.Dir, "index"), before, before))
}

// TestFilesThatGitWouldConvertStayAsTheyAre edits one file, and merges a base that changes another one.
func TestFilesThatGitWouldConvertStayAsTheyAre(t *testing.T) {
	t.Parallel()
	req, s := unconverted(t, func(r *remoteRepo) {
		r.write("blob", "one\r\nmore\r\n")
		r.git("update-index", "--cacheinfo", "100644,"+r.git("hash-object", "-w", "--no-filters", "blob")+",other.txt")
	})
	tree := acquire(t, s, req)
	writeTest(t, filepath.Join(tree.git.Dir, "converted", "files", "ends.txt"), "of a process that was killed\n")
	old(t, tree)
	merge, err := tree.Merge(t.Context(), req.Base, "Merge main", me)
	if err != nil || merge.Commit == "" {
		t.Fatalf("%+v, %v", merge, err)
	}
	for name, want := range map[string]string{
		"ends.txt": "one\r\ntwo\r\nthree\r\n", "other.txt": "one\r\nmore\r\n", "mixed.bat": "one\r\ntwo\r\n",
	} {
		if got := read(t, tree.Dir(), name); got != want {
			t.Errorf("%s is %q after the merge", name, got)
		}
	}
	old(t, tree)
	writeTest(t, filepath.Join(tree.Dir(), "topic.sh"), "better\n")
	tree.changes(t, merge.Commit, snapshot(t, tree), "topic.sh")
	sha := commit(t, tree, "Edit")
	tree.changes(t, merge.Commit, sha, "topic.sh")
	old(t, tree)
	release(t, tree)
	req.Head = sha
	tree = acquire(t, s, req)
	if got := leftovers(t, s); len(got) > 0 {
		t.Errorf("set aside, though nobody changed anything: %q", got)
	}
	// Whoever edits such a file gets it as the attributes say.
	writeTest(t, filepath.Join(tree.Dir(), "ends.txt"), "one\r\n")
	edited := []string{"ends.txt"}
	if runtime.GOOS != "windows" {
		must(t, os.Chmod(filepath.Join(tree.Dir(), "other.txt"), 0o755))
		edited = append(edited, "other.txt")
	}
	old(t, tree)
	tree.changes(t, sha, snapshot(t, tree), edited...)
}

// changes wants exactly these files to differ.
func (t *Tree) changes(tb testing.TB, from, to string, want ...string) {
	tb.Helper()
	if got := strings.Fields(run(tb, t.Dir(), "git", "diff-tree", "-r", "--name-only", from, to)); !slices.Equal(got, want) {
		tb.Errorf("%q differ, want %q", got, want)
	}
}

// TestAnUntouchedConflictOfAFileThatGitWouldConvertIsLeft leaves a file that one side deleted as git left it.
func TestAnUntouchedConflictOfAFileThatGitWouldConvertIsLeft(t *testing.T) {
	t.Parallel()
	req, s := unconverted(t, func(r *remoteRepo) { r.git("rm", "-q", "--cached", "ends.txt") })
	tree := acquire(t, s, req)
	merge, err := tree.Merge(t.Context(), req.Base, "Merge main", me)
	if err != nil || !slices.Equal(merge.Unmarked, []string{"ends.txt"}) {
		t.Fatalf("%+v, %v", merge, err)
	}
	if left, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree)); err != nil || !slices.Equal(left, []string{"ends.txt"}) {
		t.Errorf("left are %q, %v", left, err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "ends.txt"), "one\r\nthree\r\n")
	if left, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree)); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// TestACancelledMergeBringsBackWhatItTookAway is cancelled while the files are not in the tree.
func TestACancelledMergeBringsBackWhatItTookAway(t *testing.T) {
	t.Parallel()
	req, s := unconverted(t, func(r *remoteRepo) { r.git("rm", "-q", "--cached", "ends.txt") })
	tree := acquire(t, s, req)
	old(t, tree)
	ctx, cancel := context.WithCancel(t.Context())
	err := tree.withoutConverted(ctx, nil, func() error {
		if exists(filepath.Join(tree.Dir(), "mixed.bat")) {
			t.Error("the file is there during the merge")
		}
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := read(t, tree.Dir(), "mixed.bat"); got != "one\r\ntwo\r\n" {
		t.Errorf("mixed.bat is %q", got)
	}
}

// TestWhatAKilledMergeTookAwayIsNoDeletion ends as a process does that is killed while the files are not in the tree.
func TestWhatAKilledMergeTookAwayIsNoDeletion(t *testing.T) {
	t.Parallel()
	req, s := unconverted(t, func(r *remoteRepo) { r.git("rm", "-q", "--cached", "ends.txt") })
	tree := acquire(t, s, req)
	old(t, tree)
	func() {
		defer func() { _ = recover() }()
		_ = tree.withoutConverted(t.Context(), nil, func() error { panic("killed") })
	}()
	if exists(filepath.Join(tree.Dir(), "mixed.bat")) {
		t.Fatal("the file is there after the kill")
	}
	release(t, tree)
	tree = acquire(t, s, req)
	if got := read(t, tree.Dir(), "mixed.bat"); got != "one\r\ntwo\r\n" {
		t.Errorf("mixed.bat is %q", got)
	}
	if got := leftovers(t, s); len(got) > 0 {
		t.Errorf("set aside, though nobody changed anything: %q", got)
	}
	// From now on, a file that is missing was deleted by hand.
	must(t, os.Remove(filepath.Join(tree.Dir(), "mixed.bat")))
	release(t, tree)
	acquire(t, s, req)
	if got := leftovers(t, s); len(got) != 1 {
		t.Errorf("set aside: %q, want the deletion", got)
	}
}
