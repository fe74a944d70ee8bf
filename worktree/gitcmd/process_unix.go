//go:build unix

package gitcmd

import (
	"os"
	"os/exec"
	"syscall"
)

// keepSymlinks is the value of core.symlinks: links are checked out as links.
const keepSymlinks = "true"

// superviseGroup runs cmd in its own process group, so that cancelling it reaches the transport helpers that
// git starts. SIGTERM lets git remove its lock files.
func superviseGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup kills the rest of cmd's group after cmd itself has ended.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		// ESRCH, no process left, is the usual and desired answer.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// inherit lets the child keep f open, and with f the lock on it.
func inherit(cmd *exec.Cmd, f *os.File) { cmd.ExtraFiles = append(cmd.ExtraFiles, f) }
