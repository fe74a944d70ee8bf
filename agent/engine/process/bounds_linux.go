package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// boundsInterval is how often the reaper polls what its tree uses.
const boundsInterval = 500 * time.Millisecond

// installed is this machine's memory in bytes.
func installed() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("ask for this machine's memory: %w", err)
	}
	return int64(info.Totalram) * int64(info.Unit), nil
}

// Holder says how bounds are enforced on this machine. The error says why they are not.
func Holder() (string, error) {
	if _, err := installed(); err != nil {
		return "", err
	}
	dir, err := delegated()
	if err != nil {
		return fmt.Sprintf("by checking twice a second, since the kernel limits control groups only, and %v", err), nil
	}
	return "by the kernel, in control groups below " + dir, nil
}

// hold kills the whole tree as soon as it exceeds its bounds. The kernel reports that for a control group.
// Without a group, hold polls; if memory grows faster than it polls, the kernel kills this tree before other
// processes.
func (g *reaper) hold() {
	if g.bounds == (Bounds{}) {
		return
	}
	if g.group != nil {
		if why, err := g.group.await(g.bounds); err == nil {
			g.exceed(why)
			return
		}
	}
	looks := looks{root: os.Getpid()}
	for range time.Tick(boundsInterval) {
		switch memory, processes := looks.used(); {
		case memory > g.bounds.Memory:
			g.exceed(g.bounds.tooMuchMemory())
			return
		case processes > g.bounds.Processes:
			g.exceed(g.bounds.tooManyProcesses())
			return
		}
	}
}

// exceed kills the whole tree for a reason.
func (g *reaper) exceed(why string) {
	g.exceeded.Store(&why)
	g.killAll()
}

// why says which bound was exceeded, if any. It also asks the group directly: the end of a child that the
// kernel killed for it may be known before the event is.
func (g *reaper) why() string {
	if why := g.exceeded.Load(); why != nil {
		return *why
	}
	if g.group != nil {
		return g.group.exceeded(g.bounds)
	}
	return ""
}

// holdUser keeps a child from starting far more processes than allowed between two polls. The limit counts
// all processes of the user, so there is room for others, and it has no effect for root.
func holdUser(child int, bounds Bounds) {
	if bounds == (Bounds{}) || os.Getuid() == 0 {
		return
	}
	most := uint64(tasksOf(os.Getuid()) + 4*bounds.Processes)
	// If it is refused, the polls still enforce the bound.
	_ = unix.Prlimit(child, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}, nil)
}

// tasksOf counts the processes and threads of a user.
func tasksOf(uid int) (n int) {
	for _, pid := range allProcesses() {
		var stat unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d", pid), &stat) == nil && int(stat.Uid) == uid {
			_, threads := parentAndThreads(pid)
			n += threads
		}
	}
	return n
}

// wholeLook is how many polls there are for each poll of all the machine's processes.
const wholeLook = 10

// looks polls what the descendants of a process use. A process that is no descendant never becomes one, so
// nearly all of the machine's processes are skipped after the first poll. They are checked again from time to
// time, since a process id can be reused after its process ended.
type looks struct {
	root   int
	others map[int]bool // processes that are not descendants
	made   int
}

func (l *looks) used() (memory int64, processes int) {
	if l.made%wholeLook == 0 {
		l.others = map[int]bool{}
	}
	l.made++
	parents, threads := map[int]int{}, map[int]int{}
	for _, pid := range allProcesses() {
		if !l.others[pid] {
			parents[pid], threads[pid] = parentAndThreads(pid)
		}
	}
	for pid := range parents {
		above := pid
		for above != l.root && threads[above] > 0 {
			above = parents[above]
		}
		switch {
		case above == l.root && pid != l.root:
			processes += threads[pid]
			memory += private(pid)
		case above == 0 || l.others[above]: // not if the process above has just ended: its children have another parent by now
			l.others[pid] = true
		}
	}
	return memory, processes
}

// parentAndThreads returns a process's parent and its number of threads; zero if it has ended.
func parentAndThreads(pid int) (parent, threads int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The process name before that may contain anything (proc_pid_stat(5)).
	if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); err == nil && len(fields) > 17 {
		parent, _ = strconv.Atoi(string(fields[1]))
		threads, _ = strconv.Atoi(string(fields[17]))
	}
	return parent, threads
}

// private is the memory of a process, in bytes, that is not backed by a file; zero if it has ended.
func private(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0
	}
	// The second field is the resident memory; the third is the part of it that is shared with files
	// (proc_pid_statm(5)).
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
