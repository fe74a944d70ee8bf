package worktree

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// userClone makes a clone such as somebody works in: with changes staged, unstaged and
// stashed, a hook, and settings that run commands, which leave a canary.
func userClone(t *testing.T, r *remoteRepo) (clone, canary string) {
	t.Helper()
	clone, canary = filepath.Join(t.TempDir(), "app"), filepath.Join(t.TempDir(), "canary")
	run(t, ".", "git", "clone", "-q", r.bare, clone)
	for _, text := range []string{"stashed\n", "staged\n", "unstaged\n"} {
		writeTest(t, filepath.Join(clone, "main.txt"), text)
		switch text {
		case "stashed\n":
			run(t, clone, "git", "stash", "-q")
		case "staged\n":
			run(t, clone, "git", "add", "main.txt")
		}
	}
	writeTest(t, filepath.Join(clone, "untracked.txt"), "mine\n")
	trap := "touch '" + canary + "';"
	for _, key := range []string{"core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand", "uploadpack.packObjectsHook",
		"core.pager"} {
		run(t, clone, "git", "config", key, trap)
	}
	hook := filepath.Join(clone, ".git", "hooks", "post-checkout")
	writeTest(t, hook, "#!/bin/sh\n"+trap+"\n")
	must(t, os.Chmod(hook, 0o755))
	return clone, canary
}

// everything is what lies below a directory: the names, modes, times and contents.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime().UnixNano())
		if e.Type().IsRegular() {
			fmt.Fprintf(&all, "%x\n", sha256.Sum256([]byte(read(t, path))))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestMirrorIsMadeFromTheUsersClone(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	r.write("large.txt", strings.Repeat("0123456789abcdef\n", 1000))
	req := r.pull()
	clone, canary := userClone(t, r)
	large := r.git("rev-parse", req.Head+":large.txt")
	// The branch goes on, so that there is something to fetch besides.
	r.git("checkout", "-q", "topic")
	r.write("topic.txt", "since\n")
	req.Head = r.commit("refs/heads/topic")
	before := everything(t, clone)

	s := &Store{Root: t.TempDir(), Clones: map[string]string{"Acme/App": clone}}
	ctx, log := logged(t.Context())
	tree, err := s.Acquire(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("said is %s", log)
	}
	readBorrowed(t, tree, req)
	release(t, tree)
	if after := everything(t, clone); after != before {
		t.Errorf("the clone has changed:\n%s\nwas\n%s", after, before)
	}
	if exists(canary) {
		t.Error("something of the clone's settings was executed")
	}

	run(t, clone, "git", "status")
	if !exists(canary) {
		t.Error("the clone's settings execute nothing, this test proves nothing")
	}

	// What its owner does with it later is of no concern.
	run(t, clone, "git", "config", "--unset", "core.fsmonitor")
	run(t, clone, "git", "-c", "core.hooksPath=/dev/null", "checkout", "-q", "--orphan", "fresh", "--force")
	run(t, clone, "git", "update-ref", "-d", "refs/heads/main")
	run(t, clone, "git", "update-ref", "-d", "refs/remotes/origin/main")
	run(t, clone, "git", "update-ref", "-d", "refs/remotes/origin/topic")
	run(t, clone, "git", "-c", "gc.reflogExpire=now", "-c", "gc.reflogExpireUnreachable=now", "gc", "-q", "--prune=now")
	must(t, os.RemoveAll(filepath.Join(clone, ".git")))
	run(t, filepath.Join(s.Root, "acme", "app", "mirror.git"), "git", "cat-file", "-e", large)
	run(t, filepath.Join(s.Root, "acme", "app", "mirror.git"), "git", "fsck", "--connectivity-only")
	readBorrowed(t, acquire(t, s, req), req)
}

// readBorrowed reads what the clone has lent.
func readBorrowed(t *testing.T, tree *Tree, req Request) {
	t.Helper()
	if got := read(t, tree.Dir(), "large.txt"); len(got) != 17_000 {
		t.Errorf("large.txt has %d bytes", len(got))
	}
	if d, err := tree.Diff(t.Context()); err != nil || len(d.Files) != 1 {
		t.Errorf("diff: %+v, %v", d, err)
	}
	if got, err := tree.ReadFile(t.Context(), req.Base, "main.txt"); err != nil || string(got) != "one\ntwo\nthree\n" {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestClonesObjectsAreNotFetched checks that objects in the user's clone are not downloaded.
func TestClonesObjectsAreNotFetched(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	req := r.pull()
	clone, _ := userClone(t, r)
	requests := func(clones map[string]string) int64 {
		before := r.requests.Load()
		release(t, acquire(t, &Store{Root: t.TempDir(), Clones: clones}, req))
		return r.requests.Load() - before
	}
	// Over protocol version 2, what the server offers and its refs are two; a pack is one more.
	if with, without := requests(map[string]string{"acme/app": clone}), requests(nil); with != 2 || without != 3 {
		t.Errorf("%d requests with a clone and %d without, want 2 and 3", with, without)
	}
}

func TestCloneThatCannotBeBorrowedFrom(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	req := r.pull()
	whole, _ := userClone(t, r)
	dir := t.TempDir()
	shallow, damaged := filepath.Join(dir, "shallow"), filepath.Join(dir, "damaged")
	run(t, dir, "git", "clone", "-q", "--depth=1", "file://"+r.bare, shallow)
	run(t, dir, "git", "clone", "-q", "--no-local", r.bare, damaged)
	packs, err := filepath.Glob(filepath.Join(damaged, ".git", "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	must(t, os.Remove(packs[0]))
	for name, c := range map[string]struct{ clone, says string }{
		"missing":       {filepath.Join(dir, "nowhere"), "no such file"},
		"no repository": {dir, "not a git repository"},
		"shallow":       {shallow, "git fetch --unshallow"},
		"damaged":       {damaged, ""},
		"a worktree":    {whole, ""},
	} {
		s := &Store{Root: t.TempDir(), Clones: map[string]string{"acme/app": c.clone}}
		ctx, log := logged(t.Context())
		tree, err := s.Acquire(ctx, req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(log.String(), c.says) || (c.says == "") != (log.Len() == 0) && name != "damaged" {
			t.Errorf("%s: said is %q", name, log)
		}
		release(t, tree)
		if exists(filepath.Join(s.Root, "acme", "app", "mirror.git", "objects", "info", "alternates")) {
			t.Errorf("%s: the mirror still depends on the clone", name)
		}
		run(t, filepath.Join(s.Root, "acme", "app", "mirror.git"), "git", "fsck", "--connectivity-only")
	}
}
