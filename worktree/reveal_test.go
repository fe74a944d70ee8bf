package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNothingIsHiddenInATree checks that changes hidden from git in the index, or in the mirror, are
// committed, set aside and removed from the tree like any others.
func TestNothingIsHiddenInATree(t *testing.T) {
	for name, hide := range map[string]func(t *testing.T, tree *Tree){
		"assumed unchanged": func(t *testing.T, tree *Tree) {
			run(t, tree.Dir(), "git", "update-index", "--assume-unchanged", "topic.txt")
		},
		"skipped": func(t *testing.T, tree *Tree) {
			run(t, tree.Dir(), "git", "update-index", "--skip-worktree", "topic.txt")
		},
		"both": func(t *testing.T, tree *Tree) {
			run(t, tree.Dir(), "git", "update-index", "--assume-unchanged", "topic.txt")
			run(t, tree.Dir(), "git", "update-index", "--skip-worktree", "topic.txt")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, req, s, tree := acquired(t)
			hide(t, tree)
			writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "hidden\n")
			if changed := touched(t, tree, req.Head); !slices.Equal(changed, []string{"topic.txt"}) {
				t.Errorf("what changed is %q", changed)
			}
			release(t, tree)
			if tree = acquire(t, s, req); read(t, tree.Dir(), "topic.txt") != "hello\n" || len(leftovers(t, s)) != 1 {
				t.Errorf("the next one finds %q, and set aside is %q", read(t, tree.Dir(), "topic.txt"), leftovers(t, s))
			}
			hide(t, tree)
			writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "hidden\n")
			sha := commit(t, tree, "Mine")
			if text, err := tree.ReadFile(t.Context(), sha, "topic.txt"); err != nil || string(text) != "hidden\n" {
				t.Errorf("committed is %q, %v", text, err)
			}
		})
	}
}

func TestNothingIsExcludedInAMirror(t *testing.T) {
	r := newRemote(t)
	tree := acquire(t, &Store{Root: t.TempDir()}, r.pull())
	writeTest(t, filepath.Join(tree.home.Mirror(), "info", "exclude"), "new.txt\n")
	writeTest(t, filepath.Join(tree.Dir(), "new.txt"), "new\n")
	sha := commit(t, tree, "Mine")
	if _, err := tree.ReadFile(t.Context(), sha, "new.txt"); err != nil {
		t.Error(err)
	}
}

func TestATreeThatVanishedIsSaidToBe(t *testing.T) {
	_, req, s, tree := acquired(t)
	must(t, os.RemoveAll(tree.Dir()))
	_, err := tree.Commit(t.Context(), "Mine", me)
	if want := "the directory " + tree.Dir() + " is gone"; err == nil || !strings.Contains(err.Error(), want) ||
		errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want %q", err, want)
	}
	release(t, tree)
	if tree = acquire(t, s, req); read(t, tree.Dir(), "topic.txt") != "hello\n" {
		t.Error("it is not made anew")
	}
}
