package process

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// guard is a small process that outlives this program by as long as it takes to
// end a family whose supervisor was killed. It knows that by its standard input,
// which the system closes with this program, however that ended.
type guard struct {
	cmd *exec.Cmd
	say io.WriteCloser
}

// guarding hears of the family's group and at the end that all is over. It ends the group,
// and kills it after the time that claude has for its own tools. What has left the group it
// cannot find.
const guarding = `
read -r group && read -r over && exit
[ -n "$group" ] && kill -TERM -- "-$group" && sleep 1
[ -n "$group" ] && kill -KILL -- "-$group"`

// post posts a guard for a family.
func post() (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guarding, "guard")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// What ends this program's group or terminal must not end the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	say, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		// Not wrapped: that there is no shell does not mean that there is no CLI.
		return nil, fmt.Errorf("post a guard over the session: %v", err)
	}
	return &guard{cmd: cmd, say: say}, nil
}

// watch names the group to watch over. A guard that is gone is not missed: it
// matters only if this program is killed as well.
func (g *guard) watch(group int) { _, _ = io.WriteString(g.say, strconv.Itoa(group)+"\n") }

// dismiss ends the guard, whose family is gone.
func (g *guard) dismiss() {
	_, _ = io.WriteString(g.say, "over\n")
	_ = g.say.Close()
	_ = g.cmd.Wait()
}
