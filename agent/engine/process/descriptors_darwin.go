package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepDescriptors keeps the descriptors from a number on from the programs that this process
// starts: files, sockets and pipes, also those it inherited.
func keepDescriptors(first int) {
	entries, _ := os.ReadDir("/dev/fd") // without which there is no way to know
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// reap does nothing: the reaper is a shell here.
func reap() {}
