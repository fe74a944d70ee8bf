package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
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

// TestCachesThatCannotBeWrittenAreReplaced fills the caches of the base again after a build that left read-only
// modules in them, as one that sets GOFLAGS itself does. (As root this always works.)
func TestCachesThatCannotBeWrittenAreReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	old := time.Now().Add(-2 * maxBaseAge)
	fill := func(version string) error {
		return FillBaseCaches(dir, func(caches string) error {
			locked := filepath.Join(caches, "go-mod", version)
			if err := os.MkdirAll(locked, 0o700); err != nil {
				return err
			}
			t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
			return errors.Join(os.WriteFile(filepath.Join(locked, "dep.go"), nil, 0o400), os.Chmod(locked, 0o500))
		})
	}
	for _, version := range []string{"v1", "v2"} {
		if err := fill(version); err != nil {
			t.Error(err)
		}
		base := BaseCaches(dir)
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(base, "go-mod", version), 0o700) })
		if _, err := os.Stat(filepath.Join(base, "go-mod", version, "dep.go")); err != nil {
			t.Error(err)
		}
		if err := os.Chtimes(base, old, old); err != nil {
			t.Error(err)
		}
	}
}

// TestABuildThatWasKilledIsRepeated at once, and not while another process is at it.
func TestABuildThatWasKilledIsRepeated(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.MkdirAll(filepath.Join(BaseCaches(dir)+".new", "go-build", "half"), 0o700); err != nil {
		t.Fatal(err)
	}
	built := 0
	fill := func(meanwhile func() error) error {
		return FillBaseCaches(dir, func(caches string) error {
			built++
			return errors.Join(meanwhile(), os.Mkdir(filepath.Join(caches, "go-build"), 0o700))
		})
	}
	err := fill(func() error { return fill(func() error { return errors.New("two at once") }) })
	left, reading := os.ReadDir(filepath.Join(BaseCaches(dir), "go-build"))
	if err := errors.Join(err, reading); err != nil || built != 1 || len(left) > 0 {
		t.Errorf("built %d times, with %v of the one that was killed; %v", built, left, err)
	}
}
