//go:build unix

package server

import "syscall"

// descriptors returns how many files and connections this process may have open.
func descriptors() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int64(min(uint64(limit.Cur), 1<<30))
}
