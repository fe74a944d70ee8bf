package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine/sandbox"
)

// tree is the child with all its descendants, below a reaper that becomes their parent once
// theirs has ended, even if they changed their session or cleared their environment. If one of
// them has killed the reaper, the mark still finds most of them.
type tree struct {
	mark   string
	reaper *os.File
	said   *bufio.Reader
	// how is how the child ended; gone, that all others have as well.
	how  string
	gone bool
}

// start starts cmd, whose environment has the mark, below its reaper; cmd becomes the reaper. All
// processes of a confined one can be ended at once.
func start(cmd *exec.Cmd, mark string, confine *sandbox.Rules, bounds Bounds) (*tree, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(ends[0], true) // so that there are deadlines
	}
	if err != nil {
		return nil, fmt.Errorf("start the reaper of the session: %w", err)
	}
	ours, its := os.NewFile(uintptr(ends[0]), "reaper"), os.NewFile(uintptr(ends[1]), "reaper")
	defer its.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles[:len(cmd.ExtraFiles):len(cmd.ExtraFiles)], its)
	cmd.Args = append([]string{reaperName, strconv.Itoa(2 + len(cmd.ExtraFiles)), strconv.FormatBool(confine != nil),
		strconv.FormatBool(confine != nil && confine.Alone),
		strconv.FormatInt(bounds.Memory, 10), strconv.Itoa(bounds.Processes), cmd.Path}, cmd.Args...)
	cmd.Path = "/proc/self/exe"
	// What ends this program's group or terminal must not end the reaper.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	t := &tree{mark: mark, reaper: ours, said: bufio.NewReader(ours)}
	if err := t.started(); err != nil {
		ours.Close()
		_ = cmd.Wait() // it has said why
		return nil, err
	}
	return t, nil
}

// started reads from the reaper whether the child was started.
func (t *tree) started() error {
	line, err := t.said.ReadString('\n')
	if err != nil {
		return fmt.Errorf("hear of the session's reaper: %w", err)
	}
	if errno, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

// terminate asks the child's group to end; claude then ends its tools' processes.
func (t *tree) terminate() { t.send(askToEnd) }

// killTimeout is how long kill waits for all to be gone; the reaper goes on after it.
const killTimeout = 5 * time.Second

// kill ends everything at once and returns when it is gone, by the reaper's word; the error says
// that it is not.
func (t *tree) kill() error {
	t.send(killNow)
	_ = t.reaper.SetReadDeadline(time.Now().Add(killTimeout))
	for !t.gone {
		line, err := t.said.ReadString('\n')
		switch line = strings.TrimSpace(line); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errors.New("processes that it started are still there and being killed; see with ps who they are")
		case err != nil:
			sweep(t.mark)
			return errors.New("the reaper over the processes that it started was killed, so that some may still be there; see with ps who they are")
		case line == noneLeft:
			t.gone = true
		default:
			t.how = line
		}
	}
	return nil
}

// exit says how the child ended; state is how its reaper did.
func (t *tree) exit(state *os.ProcessState) string {
	if t.how == "" {
		return "its reaper ended, " + state.String()
	}
	return t.how
}

// release lets go of a tree that is gone.
func (t *tree) release() { _ = t.reaper.Close() }

// send ignores its error, which says that the reaper is gone already.
func (t *tree) send(what byte) { _, _ = t.reaper.Write([]byte{what}) }

// marked finds the live processes that have the mark in their environment.
func marked(mark string) []int {
	return processes(func(dir string) bool {
		// Another user's process, or one that has just ended, cannot be read;
		// neither is of the tree. A zombie's environment is empty.
		environ, err := os.ReadFile(dir + "/environ")
		return err == nil && bytes.Contains(environ, []byte(mark))
	})
}

// processes finds the processes whose directories in /proc pass a test.
func processes(test func(dir string) bool) []int {
	return slices.DeleteFunc(allProcesses(), func(pid int) bool { return !test("/proc/" + strconv.Itoa(pid)) })
}

// allProcesses are those that this one can see.
func allProcesses() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
