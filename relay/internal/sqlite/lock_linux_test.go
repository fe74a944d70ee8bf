package sqlite_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/relay/internal/sqlite"
)

// A closed store can be opened at once, even while a child that is just being started still has the store's
// files open.
func TestAClosedStoreCanBeOpenedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	first, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	inherited := inherit(t, path)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatalf("%d open files were inherited: %v", inherited, err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// inherit duplicates each descriptor of a file, as fork(2) does, until the test ends.
func inherit(t *testing.T, path string) (copies int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range all {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err != nil || target != path {
			continue
		}
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(copied) })
		copies++
	}
	return copies
}
