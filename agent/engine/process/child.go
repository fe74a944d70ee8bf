package process

import (
	"os/exec"

	"touchstone/agent/engine/sandbox"
)

// child is a started command that somebody waits for.
type child struct {
	cmd    *exec.Cmd
	tree   *tree
	exited chan struct{}
}

// launch starts cmd and waits for it in the background, even after Run has returned. On Linux the wait ends
// when all descendants have ended.
func launch(cmd *exec.Cmd, mark string, confine *sandbox.Rules, bounds Bounds) (*child, error) {
	tree, err := start(cmd, mark, confine, bounds)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, tree: tree, exited: make(chan struct{})}
	go func() {
		// Even if Wait has an error, cmd.ProcessState says how the command exited.
		_ = cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// exit says how the command ended, if it has.
func (c *child) exit() string {
	select {
	case <-c.exited:
		return c.tree.exit(c.cmd.ProcessState)
	default:
		return "not ended"
	}
}
