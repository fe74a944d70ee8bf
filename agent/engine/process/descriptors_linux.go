package process

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepDescriptors keeps the descriptors from a number on from the programs that this process
// becomes or starts: files, sockets and pipes, also those it inherited.
func keepDescriptors(first int) {
	// Since Linux 5.11.
	if unix.CloseRange(uint(first), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd") // without which there is no way to know
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}
