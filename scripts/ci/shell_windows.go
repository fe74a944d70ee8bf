package ci

import (
	"context"
	"os/exec"
	"strconv"
)

// shell runs a command line; its whole process tree ends when ctx does.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd", "/C", line)
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
	return cmd
}
