package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// boundsInterval is how often the reaper looks what its tree uses.
const boundsInterval = 500 * time.Millisecond

// installed is this machine's memory in bytes.
func installed() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("ask for this machine's memory: %w", err)
	}
	return int64(info.Totalram) * int64(info.Unit), nil
}

// Holder says what holds the bounds on this machine. The error is that nothing does.
func Holder() (string, error) {
	if _, err := installed(); err != nil {
		return "", err
	}
	dir, err := delegated()
	if err != nil {
		return fmt.Sprintf("by looking twice a second, since the kernel does it by control groups alone, and %v", err), nil
	}
	return "by the kernel, in control groups below " + dir, nil
}

// hold kills all there are once they use more than they may, which the kernel tells of their
// group. Without one it is looked for: what grows faster than that is seen, the kernel kills
// before it kills anything else.
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

// exceed ends all there are for a reason.
func (g *reaper) exceed(why string) {
	g.exceeded.Store(&why)
	g.killAll()
}

// why says by what the bounds were exceeded, if they were: a child that the kernel has killed for
// it may be known to have ended before that is known.
func (g *reaper) why() string {
	if why := g.exceeded.Load(); why != nil {
		return *why
	}
	if g.group != nil {
		return g.group.exceeded(g.bounds)
	}
	return ""
}

// holdUser keeps a child from making far more processes than it may between two looks. It counts
// all of this user's, others of which come too, and does not hold for root, who has no such limit.
func holdUser(child int, bounds Bounds) {
	if bounds == (Bounds{}) || os.Getuid() == 0 {
		return
	}
	most := uint64(tasksOf(os.Getuid()) + 4*bounds.Processes)
	// Where it is refused, the looks hold.
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

// wholeLook says how many looks there are to one at all processes of the machine.
const wholeLook = 10

// looks tell what the descendants of a process use, time and again. What is not among them never comes
// to be, so that nearly all of the machine's processes are looked at once; and now and then anew, since
// a process that has ended leaves its number to another one.
type looks struct {
	root   int
	others map[int]bool // that are not descendants
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
		case above == 0 || l.others[above]: // and not one that has just ended, whose children are another's by now
			l.others[pid] = true
		}
	}
	return memory, processes
}

// parentAndThreads are a process's parent and the number of its threads; zero once it has ended.
func parentAndThreads(pid int) (parent, threads int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name before it may hold anything (proc_pid_stat(5)).
	if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); err == nil && len(fields) > 17 {
		parent, _ = strconv.Atoi(string(fields[1]))
		threads, _ = strconv.Atoi(string(fields[17]))
	}
	return parent, threads
}

// private is the memory of a process that no file holds, in bytes; zero once it has ended.
func private(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0
	}
	// Of what is resident, the second, the third is shared with files (proc_pid_statm(5)).
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
