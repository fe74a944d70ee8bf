package worktree

import (
	"fmt"
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
	var commits strings.Builder
	for i := range maxLog + 5 {
		fmt.Fprintf(&commits, "git commit -q --allow-empty -m 'number %d'\n", i)
	}
	run(t, r.work, "sh", "-c", commits.String())
	req.Head = r.commit("refs/heads/topic")
	messages, err := acquire(t, &Store{Root: t.TempDir()}, req).Log(t.Context())
	if err != nil || len(messages) != maxLog || slices.Contains(messages, "number 1") {
		t.Errorf("%d messages, %v", len(messages), err)
	}
}
