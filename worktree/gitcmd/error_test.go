package gitcmd

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFault checks that a disk that accepts no data is distinguished from a tree that git cannot work
// with, and that names chosen by others do not confuse this.
func TestDiskFault(t *testing.T) {
	t.Parallel()
	for said, full := range map[string]bool{
		"fatal: unable to write loose object file: No space left on device":                      true,
		"error: file write error: No space left on device\nfatal: adding files failed":           true,
		"fatal: sha1 file '/t/index.lock' write error. Out of diskspace":                         true,
		"error: unable to create file a: Disk quota exceeded\nfatal: Could not reset index file": true,
		"fatal: Unable to create '/t/index.lock': Read-only file system":                         true,
		"fatal: unable to write new index file":                                                  true,
		"error: unable to create file No space left on device/a: File name too long":             false,
		"remote: fatal: unable to write loose object file: No space left on device":              false,
		"error: invalid path 'No space left on device'":                                          false,
		"error: open(\"a\"): Permission denied":                                                  false,
		"":                                                                                       false,
	} {
		err := fmt.Errorf("commit: %w", newFailure(Command{Args: []string{"add"}}, 128, []byte(said)))
		if DiskFault(err) != full || full && !strings.Contains(err.Error(), "(the disk") {
			t.Errorf("%q is the disk's fault: %v; it says %v", said, !full, err)
		}
	}
	if !DiskFault(fmt.Errorf("open: %w", syscall.EROFS)) || DiskFault(errors.New("No space left on device")) || DiskFault(nil) {
		t.Error("an error of the system's own is taken for another")
	}
}
