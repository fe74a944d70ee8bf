//go:build unix

package program

import (
	"context"
	"os/exec"
	"syscall"
)

// Isolate makes a command run in its own process group, which [Terminate] and [Kill] reach as a whole. On Linux the command
// also ends with this program.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// Terminate asks the group of a command to end. Its errors and those of Kill are ignored, since a group that is already
// gone is the desired result.
func Terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// Kill ends the group of a command.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Shell returns a command that runs a command line.
func Shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", line)
}
