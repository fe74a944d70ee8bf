package gitcmd

import (
	"os"
	"os/exec"
	"strconv"
)

// keepSymlinks is the value of core.symlinks: making links needs a privilege on
// Windows that few users have, so they are checked out as small text files.
const keepSymlinks = "false"

// superviseGroup makes cancelling reach the transport helpers git starts:
// Windows has no process groups, but taskkill ends a whole tree of processes.
func superviseGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// killGroup has nothing to add: taskkill has ended the helpers with their parent.
func killGroup(*exec.Cmd) {}

// inherit cannot hand files on: os/exec passes no extra files on Windows.
func inherit(*exec.Cmd, *os.File) {}
