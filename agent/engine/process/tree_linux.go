package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family is the child with all its descendants, below a guard who is their parent once
// theirs has ended, wherever they went and whatever they cleared. The mark finds most of
// them should one of them have killed the guard.
type family struct {
	mark  string
	guard *os.File
	said  *bufio.Reader
	// how is how the child ended; gone, that all others have as well.
	how  string
	gone bool
}

// start starts cmd, whose environment has the mark, below its guard; cmd becomes the guard. One
// that is confined can be ended at one blow.
func start(cmd *exec.Cmd, mark string, confined bool) (*family, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(ends[0], true) // so that there are deadlines
	}
	if err != nil {
		return nil, fmt.Errorf("post a guard over the session: %w", err)
	}
	ours, its := os.NewFile(uintptr(ends[0]), "guard"), os.NewFile(uintptr(ends[1]), "guard")
	defer its.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles[:len(cmd.ExtraFiles):len(cmd.ExtraFiles)], its)
	cmd.Args = append([]string{guarding, strconv.Itoa(2 + len(cmd.ExtraFiles)), strconv.FormatBool(confined), cmd.Path}, cmd.Args...)
	cmd.Path = "/proc/self/exe"
	// What ends this program's group or terminal must not end the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	f := &family{mark: mark, guard: ours, said: bufio.NewReader(ours)}
	if err := f.started(); err != nil {
		ours.Close()
		_ = cmd.Wait() // it has said why
		return nil, err
	}
	return f, nil
}

// started hears from the guard whether the child was started.
func (f *family) started() error {
	line, err := f.said.ReadString('\n')
	if err != nil {
		return fmt.Errorf("hear of the session's guard: %w", err)
	}
	if errno, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

// terminate asks the child's group to end; claude then ends its tools' processes.
func (f *family) terminate() { f.tell(askToEnd) }

// killTimeout is how long kill waits for all to be gone; the guard goes on after it.
const killTimeout = 5 * time.Second

// kill ends everything at once and returns when it is gone, by the guard's word; the error says
// that it is not.
func (f *family) kill() error {
	f.tell(killNow)
	_ = f.guard.SetReadDeadline(time.Now().Add(killTimeout))
	for !f.gone {
		line, err := f.said.ReadString('\n')
		switch line = strings.TrimSpace(line); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errors.New("processes that it started are still there and being killed; see with ps who they are")
		case err != nil:
			sweep(f.mark)
			return errors.New("the guard over the processes that it started was killed, so that some may still be there; see with ps who they are")
		case line == noneLeft:
			f.gone = true
		default:
			f.how = line
		}
	}
	return nil
}

// exit says how the child ended; state is how its guard did.
func (f *family) exit(state *os.ProcessState) string {
	if f.how == "" {
		return "its guard ended, " + state.String()
	}
	return f.how
}

// release lets go of a family that is gone.
func (f *family) release() { _ = f.guard.Close() }

// tell ignores its error, which says that the guard is gone already.
func (f *family) tell(what byte) { _, _ = f.guard.Write([]byte{what}) }

// marked finds the live processes that have the mark in their environment.
func marked(mark string) []int {
	return processes(func(dir string) bool {
		// Another user's process, or one that has just ended, cannot be read;
		// neither is of the family. A zombie's environment is empty.
		environ, err := os.ReadFile(dir + "/environ")
		return err == nil && bytes.Contains(environ, []byte(mark))
	})
}

// processes finds the processes whose directories in /proc pass a test.
func processes(test func(dir string) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && test("/proc/"+entry.Name()) {
			pids = append(pids, pid)
		}
	}
	return pids
}
