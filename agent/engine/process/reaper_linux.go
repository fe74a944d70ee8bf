package process

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine/sandbox"
)

// reaperName is the name under which this program starts itself as the reaper of a tree. The reaper is the
// parent of the child and, as a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER), of every descendant whose own
// parent has ended. So no descendant can escape, and wait(2) says when none is left. The reaper ends with the
// last of them. It also ends them all if its supervisor is killed: it notices that because the system closes
// the socket between the two.
//
// The first line that it writes to the socket is the errno that kept the child from starting, or 0. The
// second says how the child ended, and the third that no descendant is left.
const reaperName = "touchstone-reaper"

// noneLeft is the reaper's last line.
const noneLeft = "none is left"

// Requests to a reaper.
const (
	askToEnd = 'e' // the child's group
	killNow  = 'k' // the whole tree
)

// reap runs the reaper and exits, if this program was started as one.
func reap() {
	if len(os.Args) < 8 || os.Args[0] != reaperName {
		return
	}
	fd, err := strconv.Atoi(os.Args[1])
	memory, memoryErr := strconv.ParseInt(os.Args[4], 10, 64)
	processes, processesErr := strconv.Atoi(os.Args[5])
	if errors.Join(err, memoryErr, processesErr) != nil {
		syscall.Exit(2)
	}
	g := reaper{fd: fd, confined: os.Args[2] == "true", alone: os.Args[3] == "true", bounds: Bounds{memory, processes},
		stop: make(chan struct{}), gone: make(chan struct{})}
	// If memory runs out, the kernel should kill this tree before others. If this fails, the kernel chooses
	// as for any process.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	g.over(os.Args[6], os.Args[7:])
	syscall.Exit(0) // at once: the parent waits, and there is nothing to flush
}

// reaper is the parent of a session's processes: this program, started under reaperName.
type reaper struct {
	// fd is the socket's file descriptor. The child gets the descriptors below it.
	fd       int
	confined bool
	// alone says that the child gets a network namespace of its own.
	alone  bool
	bounds Bounds
	// group is the control group of the tree; nil if there is none.
	group *cgroup
	// child is the child that was started; all other processes descend from it.
	child int
	// ended says that the child has ended.
	ended bool
	// say writes a line to the supervisor.
	say func(line any)
	// stop is closed when all processes must end, and gone when they have ended.
	stop, gone chan struct{}
	once       sync.Once
	// waiting is held while waiting for children: after the wait, a process id may belong to another process.
	waiting sync.Mutex
	// killed are the processes that the last call of killChildren killed.
	killed map[int]bool
	// exceeded, if set, says which bound was exceeded.
	exceeded atomic.Pointer[string]
}

// over starts a program with the file descriptors below the socket's, and returns when it and all its
// descendants have ended.
func (g *reaper) over(path string, args []string) {
	keepDescriptors(g.fd)
	socket := os.NewFile(uintptr(g.fd), "supervisor")
	g.say = func(line any) { fmt.Fprintln(socket, line) }
	// Caught and not ignored, since the child would inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if g.bounds != (Bounds{}) {
		g.group, _ = newCgroup(g.bounds) // doctor reports if there is none
	}
	if err == nil {
		err = g.startChild(path, args)
	}
	if g.group != nil {
		defer g.group.remove()
	}
	if err != nil {
		errno := syscall.EINVAL
		errors.As(err, &errno)
		g.say(int(errno))
		return
	}
	g.say(0)
	go g.serve(socket)
	go g.hold()
	g.reap()
}

// startChild starts the child on a thread that then waits to kill it and all other processes.
//
// If the child is confined, the thread enters a Landlock domain of its own, which no signal leaves. A signal
// to all processes (kill(2) with -1) then reaches exactly the session's processes, all at once, even those
// that fork faster than they could be listed.
func (g *reaper) startChild(path string, args []string) (err error) {
	started := make(chan struct{})
	go func() {
		// The thread is never unlocked, so that nothing else runs in the domain.
		runtime.LockOSThread()
		strike := g.killChildren
		if g.confined && sandbox.Enclose() == nil {
			strike = func() bool { send(-1, syscall.SIGKILL); return false }
		}
		if g.group != nil {
			others := strike // processes may have left the group, such as a container
			strike = func() bool { _ = g.group.kill(); return others() }
		}
		g.child, err = g.begin(path, args)
		close(started)
		<-g.stop
		g.waiting.Lock() // never released
		for g.collect() {
			if more := strike(); !more {
				time.Sleep(sweepInterval)
			}
		}
		g.say(noneLeft)
		close(g.gone)
	}()
	<-started
	return err
}

// killAll has all processes killed, and their descendants as they become this process's children, until none
// is left to wait for, however long that takes.
func (g *reaper) killAll() { g.once.Do(func() { close(g.stop) }) }

// begin starts the child, in its control group if there is one, and closes the descriptors that it passed on.
func (g *reaper) begin(path string, args []string) (child int, err error) {
	files := make([]uintptr, g.fd)
	for i := range files {
		files[i] = uintptr(i)
	}
	// A new session is also a new process group. It has no terminal, into which a command could type what the
	// user's shell would then read (ioctl_tty(2), TIOCSTI).
	attributes := &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true}}
	if g.alone {
		ownNetwork(attributes.Sys)
	}
	if g.group == nil {
		child, err = syscall.ForkExec(path, args, attributes)
	} else {
		child, err = g.group.forkExec(path, args, attributes)
	}
	if err != nil {
		return 0, err
	}
	if g.group == nil {
		holdUser(child, g.bounds)
	}
	for i := range files {
		_ = unix.Close(i)
	}
	return child, nil
}

// ownNetwork makes a process start in a network namespace of its own. Without root that also needs a user
// namespace, with only this user in it, in which the process may configure its network.
func ownNetwork(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags = syscall.CLONE_NEWNET
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attributes.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
}

// serve follows the supervisor's requests, and ends the tree when the supervisor is gone.
func (g *reaper) serve(socket *os.File) {
	told := make([]byte, 1)
	for {
		_, err := socket.Read(told)
		switch {
		case err != nil:
			send(-g.child, syscall.SIGTERM)
			time.Sleep(grace)
			g.killAll()
			return
		case told[0] == askToEnd:
			send(-g.child, syscall.SIGTERM)
		case told[0] == killNow:
			g.killAll()
		}
	}
}

// reap waits for children until all must end, which is also the case when the child has ended. Then the
// thread that kills them waits for them as well; the lock keeps both from doing so at once.
func (g *reaper) reap() {
	for !g.stopped() {
		// This only checks: it returns at once while there is an ended child that nobody has waited for.
		_ = unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if g.waiting.TryLock() {
			g.collect()
			g.waiting.Unlock()
		}
	}
	<-g.gone
}

func (g *reaper) stopped() bool {
	select {
	case <-g.stop:
		return true
	default:
		return false
	}
}

// batch is the largest number of ended children that collect waits for at once while the child runs: the
// descendants of a child that starts them fast enough could end faster than that, and it would not return.
const batch = 64

// collect waits for the children that have ended, and reports whether there are others. When the child has
// ended, whose status is the only one to report, the kernel is told to keep no others for this process: they
// would fill the list of children (proc_tid_children(5)), and reading a long list takes seconds.
func (g *reaper) collect() bool {
	for n := 0; n < batch || g.ended; n++ {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			return false
		case pid == 0:
			return true
		case pid == g.child:
			g.ended = true
			signal.Ignore(syscall.SIGCHLD)
			how := describe(status)
			if why := g.why(); why != "" {
				how += ", since " + why
			}
			g.say(how)
			g.killAll()
		}
	}
	return true
}

// killChildren kills this process's children, and reports whether it found one that was not there the last
// time. If so, the caller must not pause: of processes that start others and end as fast as they can, only
// rounds without a pause find some in time.
func (g *reaper) killChildren() bool {
	killed, more := make(map[int]bool), false
	for _, pid := range children() {
		g.kill(pid)
		killed[pid] = true
		more = more || !g.killed[pid]
	}
	g.killed = killed
	return more
}

// kill kills a child. Once the child that was started has ended, nothing waits for the others, so the number
// may be another process's by now: a descriptor keeps the process while its parent is looked at. Before
// Linux 5.3 there are no such descriptors, and the look has to do.
func (g *reaper) kill(pid int) {
	if !g.ended {
		send(pid, syscall.SIGKILL)
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	switch mine := parentOf(pid) == os.Getpid(); {
	case mine && err == nil:
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	case mine:
		send(pid, syscall.SIGKILL)
	}
}

// children finds children of this process. It reads the lists of two threads first: the one that started the
// child, which calls this, and the main thread, which gets all children whose parent has ended. If both are
// empty, it reads the lists of all threads. This order matters, since a process that forks fast is gone
// before all lists are read. A kernel without these lists (proc_tid_children(5)) leaves only a scan of all
// processes.
func children() []int {
	pids := listed("/proc/thread-self/children", fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if len(pids) > 0 {
		return pids
	}
	parts, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(parts) == 0 {
		return childrenOf(os.Getpid())
	}
	return listed(parts...)
}

// listed are the processes in parts of the kernel's list.
func listed(parts ...string) []int {
	var pids []int
	for _, part := range parts {
		list, _ := os.ReadFile(part) // a thread that has just ended has none
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// childrenOf scans all processes for those with the given parent.
func childrenOf(parent int) []int {
	return slices.DeleteFunc(allProcesses(), func(pid int) bool { return parentOf(pid) != parent })
}

// parentOf is the parent of a process; 0 if it is gone.
func parentOf(pid int) int {
	parent, _ := parentAndThreads(pid)
	return parent
}

// describe says how a process ended, in the words of os.ProcessState.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}
