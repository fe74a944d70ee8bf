//go:build linux || darwin

package server

import "syscall"

// free is how many bytes the disk of a file or folder has room for; 0 where that is not known.
func free(path string) int64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0
	}
	return int64(disk.Bavail) * int64(disk.Bsize)
}
