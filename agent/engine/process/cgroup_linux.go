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

// cgroupRoot is the root of the control groups (https://docs.kernel.org/admin-guide/cgroup-v2.html).
const cgroupRoot = "/sys/fs/cgroup"

// cgroup is a control group for one child and its descendants: the kernel itself enforces the bounds, and can
// kill the whole group at once.
type cgroup struct{ dir string }

// delegated is the control group below which this program may create groups with bounds: a group that systemd
// delegated to it (Delegate= in a unit), or the root group. When that group ends, the groups below it end
// too. All other groups belong to the machine's own managers.
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

// isDelegated reports whether a group has systemd's mark for groups that it leaves to others
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

// moveDown moves all processes of a delegated group into a new group below it: the kernel only enforces
// bounds on groups whose parent has no processes.
func moveDown(dir string) error {
	leaf := filepath.Join(dir, "agent")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for range 10 { // others may start meanwhile
		text, err := os.ReadFile(dir + "/cgroup.procs")
		if err != nil || len(text) == 0 {
			return err
		}
		for pid := range strings.FieldsSeq(string(text)) {
			if err := set(leaf+"/cgroup.procs", pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return fmt.Errorf("%s still contains processes", dir)
}

// divides reports whether groups created below a group can have bounds, and enables that if this user may.
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

// newCgroup creates a group with these bounds below the delegated group.
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
		// All or nothing: the result of a build with some processes killed means nothing.
		"memory.oom.group": "1",
	} {
		if err := set(filepath.Join(dir, name), value); err != nil {
			return nil, err
		}
	}
	// Without this, memory beyond the bound would be swapped out, if there is swap.
	if err := set(dir+"/memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &cgroup{dir}, nil
}

// set writes to an existing file of a group.
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

// kill kills the whole group at once (Linux 5.14 or later).
func (c *cgroup) kill() error { return set(c.dir+"/cgroup.kill", "1") }

// exceeded says which bound was exceeded, or "".
func (c *cgroup) exceeded(bounds Bounds) string {
	switch {
	case c.count("memory.events", "oom_kill") > 0:
		return bounds.tooMuchMemory()
	case c.count("pids.events", "max") > 0:
		return bounds.tooManyProcesses()
	}
	return ""
}

// count is the number of events of one kind.
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

// await waits until a bound is exceeded and returns what exceeded says. The kernel wakes it up at once.
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
			// The kernel does not report again what was read.
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

// remove removes the empty group.
func (c *cgroup) remove() { _ = os.Remove(c.dir) }
