package program

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// Isolate makes a command run in its own process group.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Terminate sends the group a CTRL+BREAK, which a Go program receives as an interrupt. The errors of
// Terminate and Kill are ignored, since a group that is already gone is the desired result.
func Terminate(cmd *exec.Cmd) {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid))
}

// Kill ends the process and all its descendants.
func Kill(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// Shell returns a command that runs a command line.
func Shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", line)
}
