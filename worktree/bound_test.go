package worktree

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

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
