package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// enough is the free memory that is required for the tests' files, in KiB: several times what the files hold
// at once.
const enough = 4 << 20

// inMemory makes a command keep its temporary files in memory, if there is enough and the user may mount: the
// tests' files need not outlive them, and a disk takes a fifth of their processor time. The file system
// belongs to the command's own mount namespace, so it is gone with the command's last process. Go's compiled
// files stay where they were.
func inMemory(cmd *exec.Cmd) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "tests-")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(dir) }
	if !available() || exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "trial", dir).Run() != nil {
		return remove, nil
	}
	compiled := cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir())
	cmd.Env = append(cmd.Environ(), "TMPDIR="+dir, "GOTMPDIR="+compiled)
	const mount = `mount -t tmpfs -o mode=1777 tests "$TMPDIR" && exec "$@"`
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", mount, cmd.Path}, cmd.Args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return remove, nil
}

// available reports whether there is enough memory
// (https://www.kernel.org/doc/html/latest/filesystems/proc.html#meminfo).
func available() bool {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(info) {
		var kib int64
		if _, err := fmt.Sscanf(string(line), "MemAvailable: %d kB", &kib); err == nil {
			return kib >= enough
		}
	}
	return false
}
