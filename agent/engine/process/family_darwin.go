package process

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// marked finds this user's live processes that have the mark in their environment.
func marked(mark string) []int {
	processes, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	var pids []int
	for _, process := range processes {
		pid := int(process.Proc.P_pid)
		arguments, err := unix.SysctlRaw("kern.procargs2", pid)
		if err == nil && bytes.Contains(arguments, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
