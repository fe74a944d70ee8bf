package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine/sandbox"
)

// reaperName is the name under which this program starts itself to be the reaper over a
// tree: the parent of the child, and as a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER)
// of every descendant whose own parent has ended. So none gets away, and that none is left
// is what wait(2) says. It ends with the last of them, also when its supervisor was killed,
// which it knows by the socket between the two, which the system closes then.
//
// Its first line on the socket is the number of the error that kept the child from starting,
// or 0; its second is how the child ended, and its third that none is left.
const reaperName = "touchstone-reaper"

// noneLeft is the reaper's last word.
const noneLeft = "none is left"

// What a reaper is told.
const (
	askToEnd = 'e' // the child's group
	killNow  = 'k' // all there are
)

// reap becomes the reaper and ends with it, if this program was started as one.
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
	// Where there is not enough memory, its tree ends before others. Without it, the kernel chooses as it does for all.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	g.over(os.Args[6], os.Args[7:])
	syscall.Exit(0) // at once: the parent waits, and there is nothing to flush
}

// reaper is the parent of a session's processes: the program that was started under reaperName.
type reaper struct {
	// fd is the socket's descriptor, the last of those that the child does not get.
	fd       int
	confined bool
	// alone says that the child gets a network of its own.
	alone  bool
	bounds Bounds
	// group is that of its tree; nil where none can be had.
	group *cgroup
	// child is the one that was started; all others come from it.
	child int
	// say writes a line to the supervisor.
	say func(line any)
	// stop is closed when all are to end, and gone when they have.
	stop, gone chan struct{}
	once       sync.Once
	// waiting is held by who waits for children: a number that was waited for may be another process's.
	waiting sync.Mutex
	// killed are those that the last strike of killChildren was at.
	killed map[int]bool
	// exceeded, if set, says by what the bounds were exceeded.
	exceeded atomic.Pointer[string]
}

// over starts a program, with the descriptors below that of the socket, and returns
// when it and all that it started are gone.
func (g *reaper) over(path string, args []string) {
	keepDescriptors(g.fd)
	socket := os.NewFile(uintptr(g.fd), "supervisor")
	g.say = func(line any) { fmt.Fprintln(socket, line) }
	// Caught, and not ignored, which the child would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if g.bounds != (Bounds{}) {
		g.group, _ = newCgroup(g.bounds) // doctor says where there is none
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

// startChild starts the child on a thread that waits to end it, and all others.
//
// The thread of a confined child is in a domain of its own, which no signal leaves. A signal that
// it sends to all processes, as kill(2) does for -1, reaches the session's processes and no
// others, all at once: also those that fork faster than they could be listed.
func (g *reaper) startChild(path string, args []string) (err error) {
	started := make(chan struct{})
	go func() {
		// It is never unlocked, so that nothing else runs in the domain.
		runtime.LockOSThread()
		strike := g.killChildren
		if g.confined && sandbox.Enclose() == nil {
			strike = func() bool { send(-1, syscall.SIGKILL); return false }
		}
		if g.group != nil {
			byItself := strike
			strike = func() bool { return g.group.kill() != nil && byItself() }
		}
		g.child, err = g.begin(path, args)
		close(started)
		<-g.stop
		g.waiting.Lock() // for good
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

// killAll has all there are killed, and theirs as they become this process's own, until none is
// left to wait for and it ends, however long that takes.
func (g *reaper) killAll() { g.once.Do(func() { close(g.stop) }) }

// begin starts the child, in its group if there is one, and keeps none of what it was given.
func (g *reaper) begin(path string, args []string) (child int, err error) {
	files := make([]uintptr, g.fd)
	for i := range files {
		files[i] = uintptr(i)
	}
	// A session of its own is a group of its own as well. It has no terminal, into which
	// a command could type what the user's shell then reads (ioctl_tty(2), TIOCSTI).
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

// ownNetwork has a process start in a network of its own. A plain user may have that among users
// of its own as well, of which it is the only one; it can then set its network up.
func ownNetwork(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags = syscall.CLONE_NEWNET
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attributes.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
}

// serve does what the supervisor tells, and ends everything once there is none.
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

// reap waits for children until all are to end, as they are when the child has; then the thread that
// kills them waits for them as well, and the two are never done at once.
func (g *reaper) reap() {
	for !g.stopped() {
		// This only looks: it returns at once while one that has ended was not waited for.
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

// collect waits for the children that have ended, and reports whether there are others.
func (g *reaper) collect() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			return false
		case pid == 0:
			return true
		case pid == g.child:
			how := describe(status)
			if why := g.why(); why != "" {
				how += ", since " + why
			}
			g.say(how)
			g.killAll()
		}
	}
}

// killChildren kills this process's children, and reports whether one of them was not there the
// last time: of those that begin others and end, as fast as they can, each round finds some in
// time, and a pause would find none.
func (g *reaper) killChildren() bool {
	killed, more := make(map[int]bool), false
	for _, pid := range children() {
		send(pid, syscall.SIGKILL)
		killed[pid] = true
		more = more || !g.killed[pid]
	}
	g.killed = killed
	return more
}

// children finds children of this process: those of the thread that started the child, which asks, and
// of the first, whose children all become whose parent has ended; if they have none, those of all threads.
// One that swarms is gone sooner than all parts of the kernel's list can be read. A kernel without
// the list (proc_tid_children(5)) leaves no other way than to look at all processes.
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
		list, _ := os.ReadFile(part) // of a thread that has just ended there is none
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// childrenOf finds, among all processes, those whose parent is the one given.
func childrenOf(parent int) []int {
	of := []byte(strconv.Itoa(parent))
	return processes(func(dir string) bool {
		stat, err := os.ReadFile(dir + "/stat")
		// The name before it may hold anything (proc_pid_stat(5)).
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		return err == nil && len(fields) > 1 && bytes.Equal(fields[1], of)
	})
}

// describe says how a process ended, as os.ProcessState does.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}
