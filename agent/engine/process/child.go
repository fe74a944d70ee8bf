package process

import (
	"os/exec"
	"runtime"
)

// child is a started command that is being waited for.
type child struct {
	family *family
	exited chan struct{}
}

// start starts cmd and waits for it on a thread of its own: on Linux the
// kernel ends the child when the thread that started it ends, so that thread
// has to outlive the child (https://go.dev/issue/27505).
func start(cmd *exec.Cmd, mark string) (*child, error) {
	prepare(cmd)
	c := &child{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			if c.family, err = adopt(cmd, mark); err != nil {
				// Nothing may run that could not be ended.
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		}
		started <- err
		if err != nil {
			return
		}
		// How it exited is in cmd.ProcessState, also when Wait has an error.
		_ = cmd.Wait()
		close(c.exited)
	}()
	return c, <-started
}
