package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine/sandbox"
)

// tree is the child with all its descendants: a process group, and those
// that left it but still carry the mark in their environment. One that also
// cleared its environment is out of reach.
type tree struct {
	group  int
	mark   string
	reaper *reaper
}

// start starts cmd, whose environment has the mark, with its reaper.
func start(cmd *exec.Cmd, mark string, _ *sandbox.Rules, _ Bounds) (*tree, error) {
	reaper, err := startReaper()
	if err != nil {
		return nil, err
	}
	// A session of its own is a group of its own as well. It has no terminal, into which
	// a command could type what the user's shell then reads (ioctl_tty(2), TIOCSTI).
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		reaper.watch(0)
		reaper.dismiss()
		return nil, err
	}
	reaper.watch(cmd.Process.Pid)
	return &tree{group: cmd.Process.Pid, mark: mark, reaper: reaper}, nil
}

// terminate asks the group to end; claude then ends its tools' processes.
func (t *tree) terminate() { send(-t.group, syscall.SIGTERM) }

// kill ends everything at once and returns when it is gone; the error says that it is not.
func (t *tree) kill() error {
	send(-t.group, syscall.SIGKILL)
	if !sweep(t.mark) {
		return errors.New("processes that it started are still there; see with ps who they are")
	}
	return nil
}

// exit says how the child ended.
func (t *tree) exit(state *os.ProcessState) string { return state.String() }

// release lets go of a tree that is gone.
func (t *tree) release() { t.reaper.dismiss() }

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
