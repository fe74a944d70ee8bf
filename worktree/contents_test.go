package worktree

import (
	"strings"
	"testing"
	"time"
)

// TestContentsCloseAfterAPanicOfTheirReader checks that a panic of the caller's function reaches the caller, although
// git still has more to print than fits into the pipes.
func TestContentsCloseAfterAPanicOfTheirReader(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	r.write("large.txt", strings.Repeat("x", 1<<20))
	req.Head = r.commit("refs/heads/topic")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	blob := r.git("rev-parse", req.Head+":large.txt")
	raised := make(chan any, 1)
	go func() {
		defer func() { raised <- recover() }()
		c := tree.Contents(t.Context())
		defer c.Close()
		_ = c.Blobs([]string{blob, blob, blob}, 2<<20, func(int, []byte) { panic("unexpected content") })
	}()
	select {
	case got := <-raised:
		if got != "unexpected content" {
			t.Errorf("it panicked with %v", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Close does not return")
	}
}
