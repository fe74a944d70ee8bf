//go:build linux || darwin

package process

import (
	"syscall"
	"time"
)

// How long killed processes may take to end, and how often that is checked.
const (
	sweepTimeout  = 2 * time.Second
	sweepInterval = 5 * time.Millisecond
)

// sweep kills all processes with a mark, and reports whether they have ended. It repeats the search, since
// processes may start others meanwhile.
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

// send ignores the error: it means that the process has already ended.
func send(pid int, signal syscall.Signal) { _ = syscall.Kill(pid, signal) }
