package atomicfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/worktree/atomicfile"
)

// TestAFullDiskKeepsTheFileThatWasThere fills a real file system up to each of its last bytes in turn, in
// steps of a page. It checks that a file is replaced whole or not at all, that the error gives the cause, and
// that the file is replaced once there is space again.
func TestAFullDiskKeepsTheFileThatWasThere(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("SKIPPED, so that nothing is known of a full disk: this user mounts no file system: ", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	path, ballast := filepath.Join(dir, "file"), filepath.Join(dir, "ballast")
	before, after := []byte("before"), bytes.Repeat([]byte("after"), 4<<10)
	for name, replace := range map[string]func(string, []byte) error{"Write": atomicfile.Write, "Swap": atomicfile.Swap} {
		replaced, refused := 0, 0
		for taken := 0; taken < 64<<10; taken += 4 << 10 {
			if err := errors.Join(os.WriteFile(path, before, 0o600), os.WriteFile(ballast, make([]byte, taken), 0o600)); err != nil {
				break // no room for what was there
			}
			want, err := after, replace(path, after)
			if replaced++; err != nil {
				replaced, refused, want = replaced-1, refused+1, before
				if !errors.Is(err, unix.ENOSPC) {
					t.Errorf("%s with %d bytes taken: %v does not say that the disk is full", name, taken, err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s with %d bytes taken: the file has %d bytes, %v; want %d", name, taken, len(got), err, len(want))
			}
			if left, _ := os.ReadDir(dir); len(left) != 2 {
				t.Errorf("%s with %d bytes taken leaves %v behind", name, taken, left)
			}
			if err := errors.Join(os.Remove(ballast), replace(path, after)); err != nil {
				t.Errorf("%s with space again: %v", name, err)
			}
		}
		if replaced == 0 || refused == 0 {
			t.Errorf("%s: %d replaced, %d refused; want some of both", name, replaced, refused)
		}
	}
}
