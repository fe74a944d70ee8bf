package gitcmd

import (
	"fmt"
	"syscall"
)

// scarce is an amount of free disk space, in bytes. If git fails on a disk with less, the full disk is taken
// to be the cause: git does not always say why it could not write.
const scarce = 1 << 20

// NoRoom returns an error, which is a DiskFault, if fewer than the given bytes can be written to the disk of
// a directory, or if hardly any file can be created there. It returns nil if this is unknown.
func NoRoom(dir string, bytes uint64) error {
	free, known := room(dir)
	if !known || free >= bytes {
		return nil
	}
	return fmt.Errorf("the disk of %s is full, free some space: %w", dir, syscall.ENOSPC)
}
