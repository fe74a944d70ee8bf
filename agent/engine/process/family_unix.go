//go:build linux || darwin

package process

import (
	"os/exec"
	"syscall"
	"time"
)

// family is the child with all its descendants: a process group, and those
// that left it but still carry the mark in their environment. One that also
// cleared its environment is out of reach; a sandbox would hold it.
type family struct {
	group int
	mark  string
	guard *guard
}

// The time within which killed processes have to be gone, and how often that
// is looked at.
const (
	sweepTimeout  = 2 * time.Second
	sweepInterval = 5 * time.Millisecond
)

// start starts cmd, whose environment has the mark, with its guard.
func start(cmd *exec.Cmd, mark string) (*family, error) {
	guard, err := post(mark)
	if err != nil {
		return nil, err
	}
	// A session of its own is a group of its own as well. It has no terminal, into which
	// a command could type what the user's shell then reads (ioctl_tty(2), TIOCSTI).
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		guard.watch(0)
		guard.dismiss()
		return nil, err
	}
	guard.watch(cmd.Process.Pid)
	return &family{group: cmd.Process.Pid, mark: mark, guard: guard}, nil
}

// terminate asks the group to end; claude then ends its tools' processes.
func (f *family) terminate() { f.signal(-f.group, syscall.SIGTERM) }

// kill ends everything at once and returns when it is gone. Processes may
// start others while they are being looked for, hence the repetition.
func (f *family) kill() {
	f.signal(-f.group, syscall.SIGKILL)
	for deadline := time.Now().Add(sweepTimeout); time.Now().Before(deadline); time.Sleep(sweepInterval) {
		members := marked(f.mark)
		if len(members) == 0 {
			return
		}
		for _, pid := range members {
			f.signal(pid, syscall.SIGKILL)
		}
	}
}

// release lets go of a family that is gone.
func (f *family) release() { f.guard.dismiss() }

// signal ignores its error, which says that the process is gone already.
func (f *family) signal(pid int, signal syscall.Signal) { _ = syscall.Kill(pid, signal) }
