package worktree

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestAHeadOfEndlessContentIsNotCheckedOut has a pull request of one file that compresses well, under many names.
func TestAHeadOfEndlessContentIsNotCheckedOut(t *testing.T) {
	t.Parallel()
	for name, partial := range map[string]Partial{"whole": PartialOff, "partial": PartialOn} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t)
			run(t, r.bare, "git", "config", "uploadpack.allowFilter", "true")
			run(t, r.bare, "git", "config", "uploadpack.allowAnySHA1InWant", "true")
			req := r.pull()
			req.Merged = true
			r.write("zeros", strings.Repeat("\x00", 1<<20))
			blob := r.git("hash-object", "-w", "zeros")
			change := func(names int) {
				index := exec.Command("git", "update-index", "--index-info")
				var info strings.Builder
				for n := range names {
					fmt.Fprintf(&info, "100644 %s 0\tmany/%d\n", blob, n)
				}
				index.Dir, index.Stdin = r.work, strings.NewReader(info.String())
				if out, err := index.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				r.git("commit", "-q", "-m", "Many names")
				req.Head = r.git("rev-parse", "HEAD")
				r.put(req.HeadRef, req.Head)
			}
			s := &Store{Root: t.TempDir(), Partial: partial}
			change(4097) // 4 GiB and a little
			_, err := s.Acquire(t.Context(), req)
			wantErr(t, err, ErrTooLarge)
			if left := trees(t, s); len(left) > 0 {
				t.Errorf("left are %q", left)
			}
			r.git("reset", "-q", "--hard", "HEAD^")
			change(3)
			if tree := acquire(t, s, req); read(t, tree.Dir(), "many", "2") != strings.Repeat("\x00", 1<<20) {
				t.Error("a file is not checked out")
			}
		})
	}
}

// TestAHeadOfEndlessFilesIsNotCheckedOut has a pull request of ten small trees describe ten thousand million files.
func TestAHeadOfEndlessFilesIsNotCheckedOut(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	req.Merged = true
	mktree := func(entries string) string {
		cmd := exec.Command("git", "mktree")
		cmd.Dir, cmd.Stdin = r.work, strings.NewReader(entries)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	ten := func(entry string) string {
		var all strings.Builder
		for n := range 10 {
			fmt.Fprintf(&all, "%s\t%d\n", entry, n)
		}
		return mktree(all.String())
	}
	tree := ten("100644 blob " + r.git("rev-parse", "HEAD:topic.txt"))
	for range 9 {
		tree = ten("040000 tree " + tree)
	}
	tree = mktree(r.git("ls-tree", "HEAD") + "\n040000 tree " + tree + "\tz\n")
	req.Head = r.git("commit-tree", "-p", "HEAD", "-m", "Many files", tree)
	r.put(req.HeadRef, req.Head)
	s := &Store{Root: t.TempDir()}
	_, err := s.Acquire(t.Context(), req)
	wantErr(t, err, ErrTooLarge)
	if left := trees(t, s); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
