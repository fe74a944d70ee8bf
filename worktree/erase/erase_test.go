package erase_test

import (
	"os"
	"path/filepath"
	"testing"

	"touchstone/worktree/erase"
)

// TestNamesThatAreNoText removes what a build has left below a directory whose name is not valid UTF-8. (As
// root this always works.)
func TestNamesThatAreNoText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	locked := filepath.Join(dir, "caf\xe9", "mod")
	if err := os.MkdirAll(locked, 0o700); err != nil {
		t.Skip("SKIPPED: this file system takes no such name: ", err)
	}
	if err := os.WriteFile(filepath.Join(locked, "dep.go"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	if err := erase.All(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
