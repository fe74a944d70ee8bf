package session

import (
	"os"
	"path/filepath"
	"testing"
)

// What builds leave in a home without the permission to write, such as a module cache, is removed with it.
// (As root this always works.)
func TestAHomeIsRemovedWithWhatCannotBeWritten(t *testing.T) {
	home, err := NewHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	locked := home.Path("tmp", "mod", "dep@v1")
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
	if err := home.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(home.Dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
