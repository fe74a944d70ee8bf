//go:build linux || darwin

package server

import "syscall"

// free returns how many bytes are free on the disk of a file or folder; 0 if that is not known.
func free(path string) int64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0
	}
	return int64(disk.Bavail) * int64(disk.Bsize)
}
