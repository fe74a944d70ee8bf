//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether a directory is this user's. In one of another user, a lock could be a link to a file of this user's.
func owned(dir fs.FileInfo) bool {
	has, ok := dir.Sys().(*syscall.Stat_t)
	return ok && int(has.Uid) == os.Geteuid()
}
