package process

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// reaper is a small process that ends the tree if its supervisor was killed. It notices that on its standard
// input, which the system closes when this program ends, for whatever reason.
type reaper struct {
	cmd *exec.Cmd
	say io.WriteCloser
}

// reaperScript reads the tree's group and, at the end, that all is over. If the latter is missing, it asks
// the group to end and kills it after the time that claude has for its own tools. It cannot find processes
// that have left the group.
const reaperScript = `
read -r group && read -r over && exit
[ -n "$group" ] && kill -TERM -- "-$group" && sleep 1
[ -n "$group" ] && kill -KILL -- "-$group"`

// startReaper starts a reaper for a tree.
func startReaper() (*reaper, error) {
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "reaper")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// A signal to this program's group or terminal must not end the reaper.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	say, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		// Not wrapped: a missing shell must not look like a missing CLI.
		return nil, fmt.Errorf("start the reaper of the session: %v", err)
	}
	return &reaper{cmd: cmd, say: say}, nil
}

// watch tells the reaper the group. It does not matter if the reaper is gone: it is only needed if this
// program is killed as well.
func (g *reaper) watch(group int) { _, _ = io.WriteString(g.say, strconv.Itoa(group)+"\n") }

// dismiss ends the reaper after its tree has ended.
func (g *reaper) dismiss() {
	_, _ = io.WriteString(g.say, "over\n")
	_ = g.say.Close()
	_ = g.cmd.Wait()
}
