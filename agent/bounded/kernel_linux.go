package bounded

import (
	"os"
	"syscall"
)

// confine has the kernel refuse this process much more memory than it may use, since a single allocation can double it
// between two looks; and end this process before others if the machine runs out. Without either, hold still works.
func confine(most int64) {
	limit := uint64(most / 2 * 3)
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) != nil || now.Cur > limit {
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
}
