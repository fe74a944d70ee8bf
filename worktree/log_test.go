package worktree

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestLogIsThePullRequestsOwn(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	r.git("commit", "-q", "--allow-empty", "-m", "Second\n\nRecurrence: add lint - here\n"+strings.Repeat("ü", maxLogMessage))
	req.Head = r.commit("refs/heads/topic")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	messages, err := tree.Log(t.Context())
	if err != nil || len(messages) != 3 {
		t.Fatalf("%d messages, %v; want the pull request's three and none of its base", len(messages), err)
	}
	if messages[0] != "change" || messages[2] != "change" || !strings.Contains(messages[1], "\nRecurrence: add lint - here\n") {
		t.Errorf("messages are %.100q", messages)
	}
	if n := len(messages[1]); n > maxLogMessage || n < maxLogMessage-4 {
		t.Errorf("a long message is cut to %d bytes", n)
	}
}

func TestLogIsBounded(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	var stream strings.Builder
	fmt.Fprintf(&stream, "reset refs/heads/long\nfrom %s\n\n", req.Head)
	for i := range maxLog + 5 {
		message := fmt.Sprintf("number %d", i)
		fmt.Fprintf(&stream, "commit refs/heads/long\ncommitter a <a@example.com> 0 +0000\ndata %d\n%s\n", len(message), message)
	}
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Stdin = r.work, strings.NewReader(stream.String())
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.git("reset", "-q", "--hard", "long")
	req.Head = r.commit("refs/heads/topic")
	messages, err := acquire(t, &Store{Root: t.TempDir()}, req).Log(t.Context())
	if err != nil || len(messages) != maxLog || slices.Contains(messages, "number 1") {
		t.Errorf("%d messages, %v", len(messages), err)
	}
}
