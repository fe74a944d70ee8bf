package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nest puts places that a git or a build obeys where git reports and cleans nothing.
func nest(t *testing.T, dir string, more ...string) (places []string) {
	t.Helper()
	for _, place := range append(more, "dir/.git/config", "dir/deep/.git/HEAD", "new/.git/config", "sub/Makefile", "sub/deep/file") {
		writeTest(t, filepath.Join(dir, filepath.FromSlash(place)), "[core]\nfsmonitor = false\n")
		places = append(places, place)
	}
	return places
}

// withSubmodule opens pull request 12 on a base with directories and a submodule.
func withSubmodule(r *remoteRepo) Request {
	r.t.Helper()
	// A submodule that is not checked out is an empty directory.
	must(r.t, os.Mkdir(filepath.Join(r.work, "sub"), 0o755))
	r.write("dir/file.txt", "tracked\n")
	r.write("dir/deep/file.txt", "tracked\n")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	r.git("commit", "-q", "-m", "submodule")
	return r.pull()
}

func TestASubmoduleIsListedAsADirectory(t *testing.T) {
	r := newRemote(t)
	req := withSubmodule(r)
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	names, err := tree.ReadDir(t.Context(), req.Base, ".")
	if err != nil || !slices.Contains(names, "sub/") || !slices.Contains(names, "dir/") {
		t.Errorf("the root holds %q, %v", names, err)
	}
	if _, err := tree.ReadDir(t.Context(), req.Base, "sub"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a submodule that is not checked out can be listed: %v", err)
	}
}

func TestNothingNestedReachesTheNextPullRequest(t *testing.T) {
	for _, handOver := range []string{"again", "again, in other cases", "spare", "after a verify"} {
		t.Run(handOver, func(t *testing.T) {
			r := newRemote(t)
			req := withSubmodule(r)
			store := &Store{Root: t.TempDir()}
			tree := acquire(t, store, req)
			var more []string
			if handOver == "again, in other cases" {
				more = []string{".Git/config", "dir/.GIT/config"}
			}
			places := nest(t, tree.Dir(), more...)
			switch handOver {
			case "after a verify":
				must(t, tree.Discard(t.Context(), req.Head))
			case "spare":
				release(t, tree)
				must(t, store.Remove(t.Context(), req.Repo, req.Number, req.Role))
				req.Number++
				tree = acquire(t, store, req)
			default:
				release(t, tree)
				tree = acquire(t, store, req)
			}
			for _, place := range places {
				if _, err := os.Lstat(filepath.Join(tree.Dir(), filepath.FromSlash(place))); err == nil {
					t.Errorf("%s is still there", place)
				}
			}
			if read(t, tree.Dir(), "dir", "file.txt") != "tracked\n" {
				t.Error("what is tracked is gone")
			}
			if info, err := os.Stat(filepath.Join(tree.Dir(), "sub")); err != nil || !info.IsDir() {
				t.Errorf("the submodule's directory is gone: %v", err)
			}
		})
	}
}

func TestANestedRepositoryOfTheNextHeadGoesToo(t *testing.T) {
	r := newRemote(t)
	req := withSubmodule(r)
	store := &Store{Root: t.TempDir()}
	tree := acquire(t, store, req)
	// Nothing of it is tracked yet, and it holds nothing that status reports.
	writeTest(t, filepath.Join(tree.Dir(), "lib", ".git", "config"), "[core]\n")
	release(t, tree)
	r.git("checkout", "-q", "topic")
	r.write("lib/file.txt", "tracked\n")
	req.Head = r.commit("refs/heads/topic", "refs/pull/12/head")
	tree = acquire(t, store, req)
	if exists(filepath.Join(tree.Dir(), "lib", ".git")) || read(t, tree.Dir(), "lib", "file.txt") != "tracked\n" {
		t.Error("a .git waited where the next head has a directory")
	}
}
