package gitcmd

import (
	"os"
	"os/exec"
	"strconv"
)

// keepSymlinks is the value of core.symlinks: creating links on Windows needs a privilege that few users
// have, so links are checked out as small text files.
const keepSymlinks = "false"

// superviseGroup makes cancelling reach the transport helpers that git starts: Windows has no process groups,
// but taskkill ends a whole tree of processes.
func superviseGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// killGroup does nothing: taskkill has ended the helpers with their parent.
func killGroup(*exec.Cmd) {}

// inherit does nothing: os/exec passes no extra files on Windows.
func inherit(*exec.Cmd, *os.File) {}
