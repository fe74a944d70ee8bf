//go:build linux || darwin

package process

import (
	"syscall"
	"time"
)

// The time within which killed processes have to be gone, and how often that
// is looked at.
const (
	sweepTimeout  = 2 * time.Second
	sweepInterval = 5 * time.Millisecond
)

// sweep kills all processes that carry a mark, and reports whether they are gone.
// Processes may start others while they are being looked for, hence the repetition.
func sweep(mark string) bool {
	for deadline := time.Now().Add(sweepTimeout); time.Now().Before(deadline); time.Sleep(sweepInterval) {
		members := marked(mark)
		if len(members) == 0 {
			return true
		}
		for _, pid := range members {
			send(pid, syscall.SIGKILL)
		}
	}
	return false
}

// send ignores its error, which says that the process is gone already.
func send(pid int, signal syscall.Signal) { _ = syscall.Kill(pid, signal) }
