//go:build unix

package acp_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"touchstone/agent/engine"
)

// TestAPipeIsNotWaitedFor: opening one would hold up the whole session.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir, _ := checkout(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, answer := range ask(t, actor(t, "actor"), request(engine.Author, dir), read(pipe), write(pipe)) {
		if (id == "1" || id == "2") && !strings.Contains(answer, "-32602") {
			t.Errorf("%s is answered with %s", id, answer)
		}
	}
}
