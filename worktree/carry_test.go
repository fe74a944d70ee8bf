package worktree

import (
	"strings"
	"testing"
)

func patchID(t *testing.T, s *Store, req Request) string {
	t.Helper()
	tree := acquire(t, s, req)
	id, err := tree.PatchID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release(t, tree)
	return id
}

// advance commits to main and merges that into the topic branch.
func (r *remoteRepo) advance(req Request, edit func()) Request {
	r.git("checkout", "-q", "main")
	edit()
	req.Base = r.commit("refs/heads/main")
	r.git("checkout", "-q", "topic")
	r.git("merge", "-q", "--no-edit", "main")
	req.Head = r.commit("refs/heads/topic")
	return req
}

func TestPatchIDOutlivesAMergeOfTheBase(t *testing.T) {
	r := newRemote(t)
	r.write("long.txt", strings.Repeat("line\n", 50)+"end\n")
	r.write("wide.txt", "short\n")
	first := r.pull()
	r.write("long.txt", strings.Repeat("line\n", 50)+"changed\n")
	r.write("wide.txt", strings.Repeat("index wide ", 10_000)+"\n")
	r.write("image.bin", "\x00one")
	first.Head = r.commit("refs/heads/topic")
	s := &Store{Root: t.TempDir()}
	id := patchID(t, s, first)

	merged := r.advance(first, func() {
		r.write("long.txt", "moved\ndown\n"+strings.Repeat("line\n", 50)+"end\n")
		r.write("other.txt", "from main\n")
	})
	if got := patchID(t, s, merged); got != id {
		t.Error("a merge of the base made another change of it")
	}
	tree := acquire(t, s, merged)
	if only, err := tree.OnlyMergedBase(t.Context(), first.Head); !only || err != nil {
		t.Errorf("nothing but the base was merged: %v, %v", only, err)
	}
	if only, err := tree.OnlyMergedBase(t.Context(), strings.Repeat("1", 40)); only || err != nil {
		t.Errorf("a commit that nobody has: %v, %v", only, err)
	}
	release(t, tree)

	for name, edit := range map[string]func(){
		"white space":         func() { r.write("long.txt", "moved\ndown\n"+strings.Repeat("line\n", 50)+"changed \n") },
		"a mode":              func() { r.git("update-index", "--chmod=+x", "long.txt") },
		"a binary file":       func() { r.write("image.bin", "\x00two") },
		"the end of a line":   func() { r.write("wide.txt", strings.Repeat("index wide ", 10_000)+"!\n") },
		"another file":        func() { r.write("copy.txt", "x\n") },
		"the base's own file": func() { r.write("other.txt", "touched\n") },
	} {
		r.git("checkout", "-q", "-B", "topic", merged.Head)
		edit()
		// Not through a helper that adds everything: a mode lives in the index alone.
		if name != "a mode" {
			r.git("add", "-A")
		}
		r.git("commit", "-q", "-m", "edit")
		next := merged
		next.Head = r.git("rev-parse", "HEAD")
		r.git("push", "-q", "-f", r.bare, "HEAD:refs/heads/topic")
		if patchID(t, s, next) == id {
			t.Errorf("%s: another change has the same id", name)
		}
		tree := acquire(t, s, next)
		if only, err := tree.OnlyMergedBase(t.Context(), first.Head); only || err != nil {
			t.Errorf("%s: passes for a mere merge of the base: %v, %v", name, only, err)
		}
		release(t, tree)
		r.git("reset", "-q", "--hard")
	}
}

func TestAConflictIsNoMereMerge(t *testing.T) {
	r := newRemote(t)
	req, main := r.conflict()
	r.git("checkout", "-q", "topic")
	approved := req.Head
	run(t, r.work, "sh", "-c", "git merge -q main || git checkout -q --ours main.txt image.bin; git add -A; git commit -q -m resolved")
	req.Head, req.Base = r.commit("refs/heads/topic"), main
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if only, err := tree.OnlyMergedBase(t.Context(), approved); only || err != nil {
		t.Errorf("a conflict that somebody resolved: %v, %v", only, err)
	}
}
