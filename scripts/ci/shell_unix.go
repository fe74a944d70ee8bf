//go:build unix

package ci

import (
	"context"
	"os/exec"
	"syscall"
)

// shell runs a command line in its own process group, which ends as a whole when ctx does: everything that
// the command started ends with it.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
