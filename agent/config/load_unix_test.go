//go:build unix

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAPipeIsNotWaitedFor: nobody may ever write to it, and the agent would not end either.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, environment(t.TempDir())); err == nil || !strings.Contains(err.Error(), "is no ordinary file") {
		t.Errorf("error %v", err)
	}
}
