package process

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepDescriptors sets close-on-exec on all file descriptors from first on, inherited ones included, so that
// the programs that this process becomes or starts do not get them.
func keepDescriptors(first int) {
	// Since Linux 5.11.
	if unix.CloseRange(uint(first), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd") // if that fails, the descriptors cannot be known
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}
