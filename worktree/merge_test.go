package worktree

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// conflict makes main and the branch disagree about main.txt, and a binary file
// and a deletion besides; it returns the request and main's new commit.
func (r *remoteRepo) conflict() (Request, string) {
	r.write("image.bin", "\x00base")
	r.write("gone.txt", "content\n")
	req := r.pull()
	r.write("main.txt", "one\nours\nthree\n")
	r.write("image.bin", "\x00ours")
	r.write("gone.txt", "content\nmore\n")
	req.Head = r.commit("refs/heads/topic")
	r.git("checkout", "-q", "main")
	r.write("main.txt", "one\ntheirs\nthree\n")
	r.write("image.bin", "\x00theirs")
	r.git("rm", "-q", "gone.txt")
	return req, r.commit("refs/heads/main")
}

func TestAMergeIsACommitOfBothParents(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	r.git("checkout", "-q", "main")
	r.write("other.txt", "from main\n")
	main := r.commit("refs/heads/main")
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	got, err := tree.Merge(t.Context(), req.Base, "merge", me)
	if err != nil || !got.UpToDate {
		t.Errorf("merging the merge base: %+v, %v", got, err)
	}
	if _, err := tree.Merge(t.Context(), strings.Repeat("0", 40), "merge", me); err == nil {
		t.Error("merged a commit that does not exist")
	}
	release(t, tree)
	req.Base = main
	tree = acquire(t, s, req)
	got, err = tree.Merge(t.Context(), main, "Merge main", me)
	if err != nil || got.Commit == "" || len(got.Conflicts) > 0 {
		t.Fatalf("merge: %+v, %v", got, err)
	}
	if parents := run(t, tree.Dir(), "git", "log", "-1", "--format=%P|%an|%s"); parents != req.Head+" "+main+"|Octo Cat|Merge main" {
		t.Errorf("the merge commit is %s", parents)
	}
	if read(t, tree.Dir(), "other.txt") != "from main\n" {
		t.Error("the merge is not in the files")
	}
}

func TestMergeConflict(t *testing.T) {
	r := newRemote(t)
	req, main := r.conflict()
	req.Base = main
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	got, err := tree.Merge(t.Context(), main, "Merge main", me)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"gone.txt", "image.bin", "main.txt"}
	if !slices.Equal(got.Unmarked, []string{"gone.txt", "image.bin"}) || !slices.Equal(got.Undecided, []string{"image.bin"}) ||
		got.Tree == "" {
		t.Errorf("without markers are %q, undecided %q, the tree is %q", got.Unmarked, got.Undecided, got.Tree)
	}
	if !slices.Equal(got.Conflicts, all) {
		t.Fatalf("merge: %+v", got)
	}
	text := read(t, tree.Dir(), "main.txt")
	for _, part := range []string{"<<<<<<< ", "ours", "||||||| ", "two", "=======", "theirs", ">>>>>>> "} {
		if !strings.Contains(text, part) {
			t.Errorf("the conflict lacks %q:\n%s", part, text)
		}
	}
	wantMarkers(t, tree, all...)

	writeTest(t, filepath.Join(tree.Dir(), "main.txt"), "one\nboth\nthree\n")
	wantMarkers(t, tree, "gone.txt", "image.bin")
	writeTest(t, filepath.Join(tree.Dir(), "image.bin"), "\x00both")
	must(t, os.Remove(filepath.Join(tree.Dir(), "gone.txt")))
	wantMarkers(t, tree)
	writeTest(t, filepath.Join(tree.Dir(), "sub/new.txt"), "x\n>>>>>>> theirs\n")
	wantMarkers(t, tree, "sub/new.txt")
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "sub")))
	sha := commit(t, tree, "Merge main by hand")
	if got := run(t, tree.Dir(), "git", "log", "-1", "--format=%P"); got != req.Head+" "+main {
		t.Errorf("the parents are %s", got)
	}
	must(t, push(t, tree, "topic", req.Head))
	release(t, tree)

	// A merge that was given up half way is set aside, and the tree is clean again.
	again := acquire(t, s, req)
	if at, err := again.Head(t.Context()); err != nil || at != req.Head || sha == at {
		t.Errorf("head is %s, %v", at, err)
	}
	if _, err := again.Merge(t.Context(), main, "Merge main", me); err != nil {
		t.Fatal(err)
	}
	release(t, again)
	acquire(t, s, req)
	wantMarkers(t, again)
	if got := read(t, again.Dir(), "main.txt"); got != "one\nours\nthree\n" {
		t.Errorf("main.txt is %q", got)
	}
}

// TestAConflictWhosePermissionsAreMergedIsLeft has one side make a binary file executable that both changed.
func TestAConflictWhosePermissionsAreMergedIsLeft(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	req, _ := r.conflict()
	r.git("update-index", "--chmod=+x", "image.bin")
	r.git("commit", "-q", "-m", "chmod")
	req.Base = r.git("rev-parse", "HEAD")
	r.put("refs/heads/main", req.Base)
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if _, err := tree.Merge(t.Context(), req.Base, "Merge main", me); err != nil {
		t.Fatal(err)
	}
	wantMarkers(t, tree, "gone.txt", "image.bin", "main.txt")
	writeTest(t, filepath.Join(tree.Dir(), "image.bin"), "\x00both")
	wantMarkers(t, tree, "gone.txt", "main.txt")
}

func wantMarkers(t *testing.T, tree *Tree, want ...string) {
	t.Helper()
	got, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("conflict markers in %q, want %q", got, want)
	}
}

func TestIsMarker(t *testing.T) {
	for line, want := range map[string]bool{
		"<<<<<<< HEAD\n": true, ">>>>>>> main": true, "||||||| 1a2b3c4\r\n": true, "<<<<<<<\r\n": true, ">>>>>>>": true,
		"=======\n": false, "|||||||\n": false, "<<<<<<<<\n": false, " <<<<<<< HEAD\n": false, "<<<<<< x\n": false, "": false,
	} {
		if isMarker([]byte(line)) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

func TestMergeOfASubmoduleIsUndecided(t *testing.T) {
	r := newRemote(t)
	at := func(branch, start, commit string) string {
		r.git("checkout", "-q", "-B", branch, start)
		r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(commit, 40)+",sub")
		r.git("commit", "-q", "-m", "sub at "+commit)
		r.git("push", "-q", "-f", r.bare, "HEAD:refs/heads/"+branch)
		return r.git("rev-parse", "HEAD")
	}
	req := r.pull()
	fork := at("main", "topic", "1")
	req.Head, req.Base = at("topic", fork, "2"), at("main", fork, "3")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	got, err := tree.Merge(t.Context(), req.Base, "Merge main", me)
	if err != nil || !slices.Equal(got.Conflicts, []string{"sub"}) || !slices.Equal(got.Undecided, got.Conflicts) {
		t.Errorf("the merge is %+v, %v", got, err)
	}
}

func TestMergeLeavesMarkersOfTestFilesAlone(t *testing.T) {
	r := newRemote(t)
	req, _ := r.conflict()
	r.write("testdata/conflict.txt", "<<<<<<< a\n=======\n>>>>>>> b\n")
	req.Base = r.commit("refs/heads/main")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if _, err := tree.Merge(t.Context(), req.Base, "Merge main", me); err != nil {
		t.Fatal(err)
	}
	wantMarkers(t, tree, "gone.txt", "image.bin", "main.txt")
}

// push pushes what the tree is at.
func push(t *testing.T, tree *Tree, branch, expectedOld string) error {
	t.Helper()
	head, err := tree.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tree.Push(t.Context(), head, branch, expectedOld)
}

func TestPushIsRejected(t *testing.T) {
	r, req, _, tree := acquired(t)
	writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "ours\n")
	commit(t, tree, "ours")
	r.write("topic.txt", "a person's\n")
	theirs := r.commit("refs/heads/topic")
	err := push(t, tree, "topic", req.Head)
	wantErr(t, err, ErrRejected)
	t.Log(err)
	// Even a caller that expects the newer commit cannot overwrite it.
	err = push(t, tree, "topic", theirs)
	wantErr(t, err, ErrRejected)
	t.Log(err)
	if got := r.at("refs/heads/topic"); got != theirs {
		t.Fatalf("the remote is at %s, want the person's %s", got, theirs)
	}
	err = push(t, tree, "topic", "")
	wantErr(t, err, ErrRejected)

	r.git("push", "-q", r.bare, ":refs/heads/topic")
	err = push(t, tree, "topic", req.Head)
	wantErr(t, err, ErrRejected)
	if err := push(t, tree, "fresh", ""); err != nil {
		t.Errorf("push to a new branch: %v", err)
	}
}

// TestPushBringsNothingBack checks that commits removed from a branch by a force push do not come back with
// the next push, even if the force push happens during it.
func TestPushBringsNothingBack(t *testing.T) {
	for name, meanwhile := range map[string]bool{"taken off before the push": false, "taken off during the push": true} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			req := r.pull()
			tree := acquire(t, &Store{Root: t.TempDir()}, req)
			writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "ours\n")
			commit(t, tree, "ours")
			older := r.git("rev-parse", req.Head+"~")
			takeOff := func() { r.git("--git-dir", r.bare, "update-ref", "refs/heads/topic", older) }
			if meanwhile {
				take := func(_ http.ResponseWriter, q *http.Request, _ http.Handler) bool {
					if q.URL.Query().Get("service") == "git-receive-pack" {
						takeOff()
					}
					return false
				}
				r.intercept.Store(&take)
			} else {
				takeOff()
			}
			wantErr(t, push(t, tree, "topic", req.Head), ErrRejected)
			if got := r.at("refs/heads/topic"); got != older {
				t.Errorf("the branch is at %s, want %s", got, older)
			}
		})
	}
}

func TestPushRefusedByRule(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	hook := filepath.Join(r.bare, "hooks", "pre-receive")
	writeTest(t, hook, "#!/bin/sh\nprintf 'error: GH013: Rule violations.\\n\\n- Commits must have\\033[0m signatures.\\n' >&2\nexit 1\n")
	must(t, os.Chmod(hook, 0o755))
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "ours\n")
	commit(t, tree, "ours")
	err := push(t, tree, "topic", req.Head)
	const why = "(pre-receive hook declined): GH013: Rule violations. - Commits must have[0m signatures.; check the protection of the branch"
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("error is %v", err)
	}
}

func TestPushAgainAfterLostResponse(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "ours\n")
	sha := commit(t, tree, "ours")
	lose := func(w http.ResponseWriter, q *http.Request, next http.Handler) bool {
		if !strings.HasSuffix(q.URL.Path, "/git-receive-pack") || q.Method != http.MethodPost {
			return false
		}
		next.ServeHTTP(discard{http.Header{}}, q)
		panic(http.ErrAbortHandler)
	}
	r.intercept.Store(&lose)
	if err := push(t, tree, "topic", req.Head); err == nil {
		t.Fatal("the response was lost, and yet the push succeeded")
	}
	if got := r.at("refs/heads/topic"); got != sha {
		t.Fatalf("the push did not arrive: %s", got)
	}
	r.intercept.Store(nil)
	if err := push(t, tree, "topic", req.Head); err != nil {
		t.Errorf("pushing again: %v", err)
	}
}

// discard is the response of a server whose client is gone.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
