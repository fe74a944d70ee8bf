package gitcmd

import "testing"

// TestADiskWithoutASizeIsNotFull checks that nothing is concluded from a file system that counts no blocks.
func TestADiskWithoutASizeIsNotFull(t *testing.T) {
	if err := NoRoom("/proc", 1); err != nil {
		t.Error(err)
	}
}
