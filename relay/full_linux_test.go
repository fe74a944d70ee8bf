package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A file that must not grow is to the relay what a full disk is.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	p := startRelay(t, buildRelay(t), newStore(t), "")
	limit := func(bytes uint64) {
		limits := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(p.command.Process.Pid, unix.RLIMIT_FSIZE, &limits, nil); err != nil {
			t.Fatal(err)
		}
	}
	endure(t, p, func() { limit(1) }, func() { limit(unix.RLIM_INFINITY) }, "disk I/O error")
}
