//go:build unix

package config

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAPipeIsNotWaitedFor checks that a pipe is refused: it may never have a writer, and the agent could then
// not end either.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, environment(t.TempDir())); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("error %v", err)
	}
}

// TestATokenCommandMayLeaveAProgramBehind checks that a command has ended in time although a program that it started,
// such as one that keeps a password in memory, keeps its output open until the limit has passed.
func TestATokenCommandMayLeaveAProgramBehind(t *testing.T) {
	var token Secret
	command := []string{"/bin/sh", "-c", "tail -f /dev/null 3<&0 & echo secret $!"}
	err := askSecret(&token, "github.token_command", command, "", 500*time.Millisecond)
	printed, child, _ := strings.Cut(string(token), " ")
	if err != nil || printed != "secret" {
		t.Errorf("it printed %q, error %v", printed, err)
	}
	if pid, err := strconv.Atoi(child); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestASlowTokenCommandIsNamed checks that an error names the time limit: run by a person, such a command may
// well succeed.
func TestASlowTokenCommandIsNamed(t *testing.T) {
	var token Secret
	err := askSecret(&token, "github.token_command", []string{"/bin/sh", "-c", "exec tail -f /dev/null"}, "", time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "has not ended within 1ms") || strings.Contains(err.Error(), "killed") {
		t.Errorf("error %v", err)
	}
}
