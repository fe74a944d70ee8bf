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

// tree is the child with all its descendants, below a reaper. The reaper becomes the parent of each
// descendant whose parent has ended, even if it changed its session or cleared its environment. If one of
// them kills the reaper, the mark still finds most of them.
type tree struct {
	mark   string
	reaper *os.File
	said   *bufio.Reader
	// how says how the child ended. gone says that all others have ended too.
	how  string
	gone bool
}

// start starts cmd, whose environment has the mark, below its reaper; cmd itself becomes the reaper. All
// processes of a confined child can be killed at once.
func start(cmd *exec.Cmd, mark string, confine *sandbox.Rules, bounds Bounds) (*tree, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(ends[0], true) // needed for deadlines
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
	// A signal to this program's group or terminal must not end the reaper.
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
		return fmt.Errorf("wait for the session's reaper: %w", err)
	}
	if errno, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

// terminate asks the child's group to end; claude then ends its tools' processes.
func (t *tree) terminate() { t.send(askToEnd) }

// killTimeout is how long kill waits for all processes to end. The reaper continues after it.
const killTimeout = 5 * time.Second

// kill kills everything and waits until the reaper says that it has ended. The error says that something has
// not.
func (t *tree) kill() error {
	t.send(killNow)
	_ = t.reaper.SetReadDeadline(time.Now().Add(killTimeout))
	for !t.gone {
		line, err := t.said.ReadString('\n')
		switch line = strings.TrimSpace(line); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errors.New("processes that it started are still running and being killed; list them with ps")
		case err != nil:
			sweep(t.mark)
			return errors.New("the reaper of the processes that it started was killed, so some may still be running; list them with ps")
		case line == noneLeft:
			t.gone = true
		default:
			t.how = line
		}
	}
	return nil
}

// exit says how the child ended. Argument state says how its reaper ended.
func (t *tree) exit(state *os.ProcessState) string {
	if t.how == "" {
		return "its reaper ended, " + state.String()
	}
	return t.how
}

// release frees what belongs to a tree that has ended.
func (t *tree) release() { _ = t.reaper.Close() }

// send ignores the error: it means that the reaper has already ended.
func (t *tree) send(what byte) { _, _ = t.reaper.Write([]byte{what}) }

// marked finds the live processes with the mark in their environment.
func marked(mark string) []int {
	return slices.DeleteFunc(allProcesses(), func(pid int) bool {
		// A process of another user, or one that has just ended, cannot be read. Neither belongs to the tree.
		// A zombie's environment is empty.
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		return err != nil || !bytes.Contains(environ, []byte(mark))
	})
}

// allProcesses are the processes that this process can see.
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
