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

// tree is the child with all its descendants: a process group, and the processes that left it but still have
// the mark in their environment. A process that also cleared its environment cannot be found.
type tree struct {
	group  int
	mark   string
	reaper *reaper
}

// start starts cmd, whose environment has the mark, and its reaper.
func start(cmd *exec.Cmd, mark string, _ *sandbox.Rules, _ Bounds) (*tree, error) {
	reaper, err := startReaper()
	if err != nil {
		return nil, err
	}
	// A new session is also a new process group. It has no terminal, into which a command could type what the
	// user's shell would then read (ioctl_tty(2), TIOCSTI).
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

// kill kills everything and waits until it has ended. The error says that something has not.
func (t *tree) kill() error {
	send(-t.group, syscall.SIGKILL)
	if !sweep(t.mark) {
		return errors.New("processes that it started are still running; list them with ps")
	}
	return nil
}

// exit says how the child ended.
func (t *tree) exit(state *os.ProcessState) string { return state.String() }

// release frees what belongs to a tree that has ended.
func (t *tree) release() { t.reaper.dismiss() }

// marked finds this user's live processes with the mark in their environment.
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
