package process

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// reaper is a small process that outlives this program by as long as it takes to
// end a tree whose supervisor was killed. It knows that by its standard input,
// which the system closes with this program, however that ended.
type reaper struct {
	cmd *exec.Cmd
	say io.WriteCloser
}

// reaperScript is told of the tree's group and at the end that all is over. It ends the group,
// and kills it after the time that claude has for its own tools. What has left the group it
// cannot find.
const reaperScript = `
read -r group && read -r over && exit
[ -n "$group" ] && kill -TERM -- "-$group" && sleep 1
[ -n "$group" ] && kill -KILL -- "-$group"`

// startReaper starts a reaper for a tree.
func startReaper() (*reaper, error) {
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "reaper")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// What ends this program's group or terminal must not end the reaper.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	say, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		// Not wrapped: that there is no shell does not mean that there is no CLI.
		return nil, fmt.Errorf("start the reaper of the session: %v", err)
	}
	return &reaper{cmd: cmd, say: say}, nil
}

// watch names the group to watch over. A reaper that is gone is not missed: it
// matters only if this program is killed as well.
func (g *reaper) watch(group int) { _, _ = io.WriteString(g.say, strconv.Itoa(group)+"\n") }

// dismiss ends the reaper, whose tree is gone.
func (g *reaper) dismiss() {
	_, _ = io.WriteString(g.say, "over\n")
	_ = g.say.Close()
	_ = g.cmd.Wait()
}
