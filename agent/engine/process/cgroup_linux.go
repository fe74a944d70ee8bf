package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// cgroupRoot is where the tree of control groups is (https://docs.kernel.org/admin-guide/cgroup-v2.html).
const cgroupRoot = "/sys/fs/cgroup"

// cgroup is a control group of its own for a child and all that it starts: the kernel itself
// holds the bounds, and ends all in it at once.
type cgroup struct{ dir string }

// delegated is the group below which this program may make others that have bounds: one that
// systemd has delegated to it, as Delegate= in a unit says, or the root of all. When that group ends,
// these end too. Other groups belong to the machine's own managers.
func delegated() (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(cgroupRoot, &stat); err != nil || stat.Type != unix.CGROUP2_SUPER_MAGIC {
		return "", fmt.Errorf("%s is not of version 2", cgroupRoot)
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	own, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "0::")
	if err != nil || !ok || strings.Contains(own, "..") {
		return "", errors.New("/proc/self/cgroup does not say where this process is")
	}
	dir := filepath.Join(cgroupRoot, own)
	above := filepath.Dir(dir)
	switch {
	case divides(dir), isDelegated(dir) && moveDown(dir) == nil && divides(dir):
		return dir, nil
	case isDelegated(above) && divides(above):
		return above, nil
	}
	return "", fmt.Errorf("none is delegated where this program was started (%s); `touchstone service install` has systemd delegate one", own)
}

// isDelegated reports systemd's mark of groups that it leaves to others
// (https://systemd.io/CGROUP_DELEGATION).
func isDelegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 1)
		if n, err := unix.Getxattr(dir, name, value); err == nil && n == 1 && value[0] == '1' {
			return true
		}
	}
	return false
}

// moveDown puts all that runs in a delegated group into one of its own below it: the kernel gives
// bounds to groups only beside which nothing runs.
func moveDown(dir string) error {
	leaf := filepath.Join(dir, "agent")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for range 10 { // while others start
		text, err := os.ReadFile(dir + "/cgroup.procs")
		if err != nil || len(text) == 0 {
			return err
		}
		for _, pid := range strings.Fields(string(text)) {
			if err := set(leaf+"/cgroup.procs", pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return fmt.Errorf("%s does not become empty", dir)
}

// divides reports whether groups that are made in a group can have bounds, and has it so if this
// user may.
func divides(dir string) bool {
	if unix.Access(dir, unix.W_OK) != nil || unix.Access(dir+"/cgroup.procs", unix.W_OK) != nil {
		return false
	}
	given := dir + "/cgroup.subtree_control"
	has := func() bool {
		text, err := os.ReadFile(given)
		controllers := strings.Fields(string(text))
		return err == nil && slices.Contains(controllers, "memory") && slices.Contains(controllers, "pids")
	}
	return has() || set(given, "+memory +pids") == nil && has()
}

// newCgroup makes a group in one that is delegated, with these bounds.
func newCgroup(bounds Bounds) (_ *cgroup, err error) {
	parent, err := delegated()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "touchstone-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(dir)
		}
	}()
	for name, value := range map[string]string{
		"memory.max": strconv.FormatInt(bounds.Memory, 10), "pids.max": strconv.Itoa(bounds.Processes),
		// All or nothing: the result of a half-killed build means nothing.
		"memory.oom.group": "1",
	} {
		if err := set(filepath.Join(dir, name), value); err != nil {
			return nil, err
		}
	}
	// What does not fit is not to go to the disk, where there is one for that.
	if err := set(dir+"/memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &cgroup{dir}, nil
}

// set writes into a file of a group, which is there.
func set(path, value string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
}

// forkExec starts a process in the group.
func (c *cgroup) forkExec(path string, args []string, attributes *syscall.ProcAttr) (int, error) {
	dir, err := unix.Open(c.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(dir)
	attributes.Sys.UseCgroupFD, attributes.Sys.CgroupFD = true, dir
	return syscall.ForkExec(path, args, attributes)
}

// kill ends all in the group at once, which Linux can since 5.14.
func (c *cgroup) kill() error { return set(c.dir+"/cgroup.kill", "1") }

// exceeded says by what the bounds were, and nothing while they are not.
func (c *cgroup) exceeded(bounds Bounds) string {
	switch {
	case c.count("memory.events", "oom_kill") > 0:
		return bounds.tooMuchMemory()
	case c.count("pids.events", "max") > 0:
		return bounds.tooManyProcesses()
	}
	return ""
}

// count is the number of one kind of event.
func (c *cgroup) count(file, event string) int {
	text, _ := os.ReadFile(filepath.Join(c.dir, file))
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, event+" "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(number))
			return n
		}
	}
	return 0
}

// await returns what exceeded says once it says something, as soon as the kernel knows.
func (c *cgroup) await(bounds Bounds) (string, error) {
	var events []unix.PollFd
	for _, name := range []string{"memory.events", "pids.events"} {
		fd, err := unix.Open(filepath.Join(c.dir, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		events = append(events, unix.PollFd{Fd: int32(fd), Events: unix.POLLPRI})
	}
	for {
		for _, file := range events {
			// What was read is not told again.
			if _, err := unix.Pread(int(file.Fd), make([]byte, 1<<10), 0); err != nil {
				return "", err
			}
		}
		if why := c.exceeded(bounds); why != "" {
			return why, nil
		}
		if _, err := unix.Poll(events, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return "", err
		}
	}
}

// remove removes the group, in which nothing is left.
func (c *cgroup) remove() { _ = os.Remove(c.dir) }
