package compose

import (
	"os"
	"path/filepath"
	"testing"

	"touchstone/agent/config"
	"touchstone/verdict/decide"
)

// TestWhatAKilledSessionLeftDoesNotStopTheAgent starts an agent after one that was killed during a session,
// whose build had left a directory without write permission, as a module cache does. (As root this always
// works.)
func TestWhatAKilledSessionLeftDoesNotStopTheAgent(t *testing.T) {
	cfg := config.Default()
	cfg.StateDir, cfg.Repositories, cfg.GitHub.Token = t.TempDir(), []string{"acme/app"}, ""
	left := filepath.Join(cfg.StateDir, "tmp", "reviewer", "touchstone-1")
	locked := filepath.Join(left, "mod", "dep@v1")
	if err := os.MkdirAll(locked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(locked, "dep.go"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	_, _, err := New(t.Context(), cfg, decide.Reviewer)
	if _, there := os.Lstat(left); !os.IsNotExist(there) {
		t.Errorf("it is still there: %v; the agent says %v", there, err)
	}
}
