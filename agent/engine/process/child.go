package process

import "os/exec"

// child is a started command that is being waited for.
type child struct {
	family *family
	exited chan struct{}
}

// launch starts cmd and waits for it in the background.
func launch(cmd *exec.Cmd, mark string, confined bool) (*child, error) {
	family, err := start(cmd, mark, confined)
	if err != nil {
		return nil, err
	}
	c := &child{family: family, exited: make(chan struct{})}
	go func() {
		// How it exited is in cmd.ProcessState, also when Wait has an error.
		_ = cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}
