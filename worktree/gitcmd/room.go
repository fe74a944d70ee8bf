package gitcmd

import (
	"fmt"
	"syscall"
)

// scarce is what a disk has less of, in bytes, when a git that fails on it is taken to have failed for
// that: git does not always say why it could not write.
const scarce = 1 << 20

// NoRoom is an error, and a DiskFault, if less than so many bytes can be written to the disk of a
// directory, or hardly any file can be made there. Where that is not known it is none.
func NoRoom(dir string, bytes uint64) error {
	free, known := room(dir)
	if !known || free >= bytes {
		return nil
	}
	return fmt.Errorf("the disk of %s is full, free some space: %w", dir, syscall.ENOSPC)
}
