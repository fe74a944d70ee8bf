package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// aged makes a tree of the store look unused for an hour.
func aged(t *testing.T, s *Store, id string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(s.Root, "acme", "app", id+".lock"), past, past))
}

func trees(t *testing.T, s *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.Root, "acme", "app"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "mirror.git" {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestCollectGivesUpWhatNobodyUses below a directory whose name has a meaning in patterns of names.
func TestCollectGivesUpWhatNobodyUses(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: filepath.Join(t.TempDir(), "[a]")}
	busy := req
	busy.Number = 13
	acquire(t, s, busy)
	fresh := req
	fresh.Number = 14
	release(t, acquire(t, s, fresh))
	old := acquire(t, s, req)
	writeTest(t, filepath.Join(old.Dir(), "topic.txt"), "not pushed\n")
	release(t, old)
	for _, id := range []string{"12-author", "13-author"} {
		aged(t, s, id)
	}
	for _, name := range []string{"broken-9-author-20200102-030405-000000000", "broken-9-author-" + timestamp()} {
		must(t, os.Mkdir(filepath.Join(s.Root, "acme", "app", name), 0o755))
	}
	done, err := s.Collect(t.Context(), Limits{Unused: time.Minute})
	if err != nil || !slices.Equal(done.Trees, []string{"acme/app/12-author"}) || done.Bytes == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	left := trees(t, s)
	if len(left) != 3 || left[0] != "13-author" || left[1] != "14-author" || !strings.HasPrefix(left[2], "broken-9-author-2") {
		t.Errorf("left are %q", left)
	}
	// What was not pushed is set aside, until that is old too.
	refs := func() string {
		return run(t, filepath.Join(s.Root, "acme", "app", "mirror.git"), "git", "for-each-ref", "--format=%(refname)", leftoverRefs)
	}
	if aside := refs(); strings.Count(aside, leftoverRefs+"12-author/") != 1 {
		t.Errorf("set aside is %q", aside)
	}
	if _, err := s.Collect(t.Context(), Limits{Unused: -time.Minute}); err != nil {
		t.Fatal(err)
	}
	if aside := refs(); aside != "" {
		t.Errorf("still set aside is %q", aside)
	}
	if left := trees(t, s); !slices.Equal(left, []string{"13-author"}) {
		t.Errorf("left are %q, want the one in use", left)
	}
	release(t, acquire(t, s, req))
}

func TestCollectMakesRoom(t *testing.T) {
	r := newRemote(t)
	r.write("large.bin", strings.Repeat("large\n", 50_000))
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	for n := 12; n < 16; n++ {
		req.Number = n
		release(t, acquire(t, s, req))
	}
	aged(t, s, "14-author")
	all, err := s.Collect(t.Context(), Limits{Unused: time.Hour * 2})
	if err != nil || len(all.Trees) > 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	done, err := s.Collect(t.Context(), Limits{Unused: time.Hour * 2, Bytes: all.Bytes - 1})
	if err != nil || !slices.Equal(done.Trees, []string{"acme/app/14-author"}) || done.Bytes > all.Bytes-300_000 {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = s.Collect(t.Context(), Limits{Unused: time.Hour, Bytes: 1}); err != nil || len(done.Trees) != 3 || len(trees(t, s)) > 0 {
		t.Errorf("%+v, %v, left are %q", done, err, trees(t, s))
	}
}

func TestCollectPacksAMirror(t *testing.T) {
	r, req, s, tree := acquired(t)
	packs := filepath.Join(s.Root, "acme", "app", "mirror.git", "objects", "pack")
	for i := range maxPacks + 1 {
		run(t, r.work, "sh", "-c", "git commit -q --allow-empty -m "+strings.Repeat("x", i+1)+" && git pack-objects -q --unpacked "+packs+
			"/pack <<EOF\n$(git rev-parse HEAD)\nEOF")
	}
	if found, err := filepath.Glob(filepath.Join(packs, "*.pack")); err != nil || len(found) <= maxPacks {
		t.Fatalf("%d packs, %v", len(found), err)
	}
	if _, err := s.Collect(t.Context(), Limits{Unused: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(filepath.Join(packs, "*.pack")); err != nil || len(found) > 2 {
		t.Errorf("%d packs are left, %v", len(found), err)
	}
	if text, err := tree.ReadFile(t.Context(), req.Head, "topic.txt"); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := tree.Diff(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCollectMakesRoomOfWhatIsBroken checks that trees that git can no longer read are deleted too when space
// is needed, and that no failure keeps Collect from the rest.
func TestCollectMakesRoomOfWhatIsBroken(t *testing.T) {
	s := &Store{Root: t.TempDir()}
	release(t, acquire(t, s, newRemote(t).pull()))
	lost := filepath.Join(s.Root, "acme", "aaa", "mirror.git")
	writeTest(t, lost, "no repository\n")
	writeTest(t, filepath.Join(s.Root, "acme", "app", "broken-9-author-"+timestamp(), "file"), "x\n")
	done, err := s.Collect(t.Context(), Limits{Unused: time.Hour, Bytes: 1})
	if err == nil || !strings.Contains(err.Error(), "clear up acme/aaa") {
		t.Errorf("what cannot be cleared up is told as %v", err)
	}
	if left := trees(t, s); len(left) > 0 || len(done.Trees) != 1 {
		t.Errorf("left are %q, given up %q", left, done.Trees)
	}
}

// TestCollectDropsUnfinishedCheckouts kills an agent that checks out a pull request, which closes before anybody
// acquires its tree again.
func TestCollectDropsUnfinishedCheckouts(t *testing.T) {
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, newRemote(t).pull())
	for _, id := range []string{"9-author", "12-author"} {
		writeTest(t, filepath.Join(tree.home.Tree("new-"+id), "file"), "half of it\n")
		writeTest(t, filepath.Join(tree.home.Admin("new-"+id), "commondir"), "../..\n")
	}
	if _, err := s.Collect(t.Context(), Limits{Unused: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if left := trees(t, s); !slices.Equal(left, []string{"12-author", "new-12-author"}) || exists(tree.home.Admin("new-9-author")) {
		t.Errorf("left are %q, want what may be checked out now", left)
	}
}

// TestCollectUnlocksTheRefs leaves the lock of a git that was killed, and then that of one that may be running.
func TestCollectUnlocksTheRefs(t *testing.T) {
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, newRemote(t).pull())
	release(t, tree)
	lock := filepath.Join(tree.home.Mirror(), "packed-refs.lock")
	writeTest(t, lock, "")
	if _, err := s.Collect(t.Context(), Limits{Unused: time.Hour}); err != nil || !exists(lock) {
		t.Errorf("the lock of a running git is there: %v, %v", exists(lock), err)
	}
	past := time.Now().Add(-2 * time.Hour)
	must(t, os.Chtimes(lock, past, past))
	if done, err := s.Collect(t.Context(), Limits{Unused: -time.Hour}); err != nil || len(done.Trees) != 1 || exists(lock) {
		t.Errorf("%+v, %v, the old lock is there: %v", done, err, exists(lock))
	}
}

func TestCachesGoWithTheirTree(t *testing.T) {
	req := newRemote(t).pull()
	for name, giveUp := range map[string]func(*Store) error{
		"removed": func(s *Store) error { return s.Remove(t.Context(), req.Repo, req.Number, req.Role) },
		"collected": func(s *Store) error {
			_, err := s.Collect(t.Context(), Limits{Unused: -time.Hour})
			return err
		},
	} {
		s := &Store{Root: t.TempDir()}
		release(t, acquire(t, s, req))
		caches := filepath.Join(s.Root, "acme", "app", "cache")
		for _, name := range []string{"12-author/verify/go-build/x", "base/go-build/x", "13-author/session/go-build/x", "go-build/x"} {
			writeTest(t, filepath.Join(caches, filepath.FromSlash(name)), "cached")
		}
		must(t, giveUp(s))
		left, err := os.ReadDir(caches)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range left {
			if id := entry.Name(); id == "12-author" || name == "collected" && id != "base" {
				t.Errorf("%s: the caches of %s are still there", name, id)
			}
		}
		if !exists(filepath.Join(caches, "base")) {
			t.Errorf("%s: the base's caches are gone as well", name)
		}
	}
}

// TestCollectMakesRoomOfCaches checks that build caches are deleted before any tree, but not while a build
// may be running.
func TestCollectMakesRoomOfCaches(t *testing.T) {
	s := &Store{Root: t.TempDir()}
	req := newRemote(t).pull()
	tree := acquire(t, s, req)
	cached := filepath.Join(s.Root, "acme", "app", "cache")
	writeTest(t, filepath.Join(cached, "12-author", "verify", "big"), strings.Repeat("x", 1<<20))
	bound, err := size(s.Root)
	if err != nil {
		t.Fatal(err)
	}
	bound -= 1 << 19
	if _, err := s.Collect(t.Context(), Limits{Unused: time.Hour, Bytes: bound}); err != nil || !exists(cached) {
		t.Errorf("with a tree in use, the cache is there: %v, %v", exists(cached), err)
	}
	release(t, tree)
	done, err := s.Collect(t.Context(), Limits{Unused: time.Hour, Bytes: bound})
	if err != nil || exists(cached) || len(done.Trees) > 0 || strings.Join(trees(t, s), " ") != "12-author" {
		t.Errorf("the cache is there: %v, given up %q, left %q, %v", exists(cached), done.Trees, trees(t, s), err)
	}
}
