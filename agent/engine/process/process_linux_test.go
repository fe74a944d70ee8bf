package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/sandbox"
)

func init() {
	// fugitive leaves a process behind that nothing tells of: it is in a session of its
	// own, has no environment, and its parent ends.
	actors["fugitive"] = func() { fmt.Println(flee()) }
	// harbour does so and goes on itself, without heeding a request to end.
	actors["harbour"] = func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(os.Getpid())
		fmt.Println(flee())
		forever()
	}
	// descriptors prints what files it has open.
	actors["descriptors"] = func() {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			panic(err)
		}
		for _, entry := range entries {
			if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
				fmt.Println(target)
			}
		}
	}
	// hoarder takes 256 MB; crowd starts 40 processes.
	actors["hoarder"] = func() {
		memory := make([]byte, 256<<20)
		for i := 0; i < len(memory); i += 4096 {
			memory[i] = 1
		}
		forever()
		runtime.KeepAlive(memory)
	}
	actors["crowd"] = func() {
		for range 40 {
			if err := exec.Command("/bin/sh", "-c", "setsid sleep 3600").Start(); err != nil {
				panic(err)
			}
		}
		forever()
	}
	// dial says which it reaches, a port that it is told of or one of its own.
	actors["dial"] = func() {
		own, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		_, told := net.Dial("tcp", os.Getenv("DIAL"))
		_, itself := net.Dial("tcp", own.Addr().String())
		fmt.Println(told == nil, itself == nil)
	}
	// bomb starts two of itself, and so on: 511 processes and their 256 sleeps, as fast as they can.
	actors["bomb"] = func() {
		const split = `f() { [ $1 = 0 ] && exec sleep 3600; f $(($1-1)) & f $(($1-1)) & wait; }; f 8`
		if err := syscall.Exec("/bin/sh", []string{"sh", "-c", split}, nil); err != nil {
			panic(err)
		}
	}
	actors["parent of harbour"] = func() { supervise("harbour") }
}

// flee starts a process in the way of one that means to outlive its session.
func flee() int {
	middle := exec.Command("/bin/sh", "-c", "env -i setsid sleep 3600 >/dev/null 2>&1 </dev/null & echo $!")
	out, err := middle.StdoutPipe()
	if err == nil {
		err = middle.Start()
	}
	if err != nil {
		panic(err)
	}
	var pid int
	if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
		panic(err)
	}
	_ = middle.Wait()
	for environ := []byte("?"); len(environ) > 0; { // until it has cleared its environment
		if environ, err = os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ")); err != nil {
			panic(err)
		}
	}
	return pid
}

// TestChildrenGetNoDescriptorsButTheirOwn leaves a file open as the starter of a program would.
func TestChildrenGetNoDescriptorsButTheirOwn(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "not for children"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fd, err := syscall.Dup(int(file.Fd())) // which, unlike file, is not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for name, confine := range map[string]*sandbox.Rules{"plain": nil, "confined": {}} {
		var lines []string
		cmd := actor("descriptors", &lines)
		cmd.Confine = confine
		if _, err := cmd.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 || slices.Contains(lines, file.Name()) {
			t.Errorf("%s: the child has %s", name, lines)
		}
	}
}

func TestWhoUsesMoreThanItMayIsKilled(t *testing.T) {
	t.Parallel()
	roomy := process.Bounds{Memory: 1 << 40, Processes: 1 << 20}
	for _, test := range []struct {
		act     string
		narrow  func(*process.Bounds)
		because string
	}{
		{"hoarder", func(b *process.Bounds) { b.Memory = 128 << 20 }, "used more than their limit of 0.1 GB of memory"},
		{"crowd", func(b *process.Bounds) { b.Processes = 30 }, "exceeded their limit of 30 processes and threads"},
		{"bomb", func(b *process.Bounds) { b.Processes = 60 }, "exceeded their limit of 60 processes and threads"},
	} {
		for name, confine := range map[string]*sandbox.Rules{"plain": nil, "confined": {}} {
			t.Run(test.act+" "+name, func(t *testing.T) {
				t.Parallel()
				var lines []string
				cmd := actor(test.act, &lines)
				cmd.Bounds, cmd.Confine = roomy, confine
				test.narrow(&cmd.Bounds)
				report, err := cmd.Run(t.Context())
				if err != nil || !strings.HasPrefix(report.Exit, "signal: killed, since ") || !strings.HasSuffix(report.Exit, test.because) {
					t.Errorf("exit = %q, %v", report.Exit, err)
				}
			})
		}
	}
}

// TestTheKernelHoldsTheBounds has nothing left of the group of one that was killed.
func TestTheKernelHoldsTheBounds(t *testing.T) {
	holder, err := process.Holder()
	parent, ok := strings.CutPrefix(holder, "by the kernel, in control groups below ")
	if !ok {
		t.Skipf("SKIPPED, so that nothing is known of control groups: %s, %v", holder, err)
	}
	var lines []string
	cmd := actor("bomb", &lines)
	cmd.Bounds = process.Bounds{Memory: 1 << 30, Processes: 60}
	report, err := cmd.Run(t.Context())
	if err != nil || report.Exit != "signal: killed, since it and the processes that it started exceeded their limit of 60 "+
		"processes and threads" {
		t.Errorf("exit = %q, %v", report.Exit, err)
	}
	if left, _ := filepath.Glob(parent + "/touchstone-*"); len(left) > 0 {
		t.Errorf("there is %s", left)
	}
}

// TestChildWithoutNetworkReachesOnlyItself also checks that the child does not start where this user may make no
// namespaces.
func TestChildWithoutNetworkReachesOnlyItself(t *testing.T) {
	t.Parallel()
	if err := sandbox.Network(); err != nil {
		t.Skip("SKIPPED, so that nothing is known of networks: ", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for alone, want := range map[bool]string{false: "true true", true: "false true"} {
		var lines []string
		cmd := actor("dial", &lines)
		cmd.Env = append(cmd.Env, "DIAL="+listener.Addr().String())
		cmd.Confine = &sandbox.Rules{Alone: alone}
		if most, err := os.ReadFile("/proc/sys/user/max_user_namespaces"); alone && os.Getuid() != 0 && err == nil && string(most) == "0\n" {
			_, err := cmd.Run(t.Context())
			wantClass(t, err, engine.Invalid)
			if errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "this user may not create namespaces here") {
				t.Errorf("without namespaces: %v", err)
			}
			continue
		}
		if report, err := cmd.Run(t.Context()); err != nil || len(lines) != 1 || lines[0] != want {
			t.Errorf("alone %t: it says %q, %v, %+v; want %q", alone, lines, err, report, want)
		}
	}
}

func TestNoDescendantEscapes(t *testing.T) {
	t.Parallel()
	var lines []string
	if _, err := actor("fugitive", &lines).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if fled := pids(t, lines); len(fled) != 1 || alive(fled[0]) {
		t.Errorf("of %d processes that fled, one outlived the run", len(fled))
	}
}

func TestDetachedDescendantsDieWithAKilledSupervisor(t *testing.T) {
	t.Parallel()
	killSupervisor(t, "parent of harbour", 2)
}

// TestCancelEndsDetachedDescendants cancels a child that ignores SIGTERM and has descendants in other sessions.
func TestCancelEndsDetachedDescendants(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var lines []string
	cmd := actor("harbour", &lines)
	gather, cancelledAt := cmd.Line, time.Time{}
	cmd.Line = func(line []byte) error {
		if err := gather(line); err != nil || len(lines) < 2 {
			return err
		}
		cancelledAt = time.Now()
		cancel()
		return nil
	}
	_, err := cmd.Run(ctx)
	wantClass(t, err, engine.Cancelled)
	t.Logf("gone after %s", time.Since(cancelledAt))
	wantGone(t, lines)
}

// TestExitOfASignal tells of a child that was killed from elsewhere what it died of.
func TestExitOfASignal(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("harbour", &lines)
	cmd.Line = func(line []byte) error {
		if lines = append(lines, string(line)); len(lines) == 2 {
			return syscall.Kill(pids(t, lines)[0], syscall.SIGKILL)
		}
		return nil
	}
	report, err := cmd.Run(context.Background())
	if err != nil || report.Exit != "signal: killed" {
		t.Errorf("exit = %q, %v", report.Exit, err)
	}
}

// TestKilledReaperIsReported has the child kill its own reaper: the child does not stay, but nobody is left
// who could say that of all.
func TestKilledReaperIsReported(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("stubborn", &lines)
	cmd.Line = func(line []byte) error {
		if lines = append(lines, string(line)); len(lines) == 3 {
			return syscall.Kill(parentOf(t, pids(t, lines)[0]), syscall.SIGKILL)
		}
		return nil
	}
	report, err := cmd.Run(context.Background())
	wantClass(t, err, engine.Crash)
	if report.Exit != "its reaper ended, signal: killed" {
		t.Errorf("exit = %q", report.Exit)
	}
	// The kernel signals what a killed reaper leaves; on a busy machine they end a moment later.
	waitGone(t, pids(t, lines))
}

// TestStoppedReaperFinishesLater keeps the reaper from its work: Run says that it is not done, and it is done
// afterwards all the same.
func TestStoppedReaperFinishesLater(t *testing.T) {
	t.Parallel()
	newer := errors.New("a newer push")
	ctx, cancel := context.WithCancelCause(context.Background())
	var lines []string
	var reaper int
	cmd := actor("stubborn", &lines)
	cmd.Line = func(line []byte) error {
		if lines = append(lines, string(line)); len(lines) < 3 {
			return nil
		}
		reaper = parentOf(t, pids(t, lines)[0])
		cancel(newer)
		return syscall.Kill(reaper, syscall.SIGSTOP)
	}
	report, err := cmd.Run(ctx)
	wantClass(t, err, engine.Crash)
	if !errors.Is(err, newer) || !strings.Contains(err.Error(), "still running") || report.Exit != "not ended" {
		t.Errorf("exit = %q, %v; want to hear why it was stopped, and that it has not ended", report.Exit, err)
	}
	if err := syscall.Kill(reaper, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitGone(t, append(pids(t, lines), reaper))
}

// parentOf asks /proc, whose status file has a line for it (proc_pid_status(5)).
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "PPid:")
	fields := strings.Fields(rest)
	parent, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// swarm leaves runners behind: each ends as soon as it has begun another, in a session of its own
// and without an environment, so that a search for them finds those that are gone. They end
// after a while, should the test fail.
const swarm = `
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void) {
	time_t end = time(0) + 8;
	signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); signal(SIGINT, SIG_IGN);
	for (int i = 0; i < 24; i++) {
		if (fork()) continue;
		close(0); close(1); close(2);
		while (time(0) < end) { if (fork() > 0) _exit(0); setsid(); }
		_exit(0);
	}
	puts("swarming"); fflush(stdout);
	sleep(8);
}
`

func TestNoForkBombOutlivesTheSandbox(t *testing.T) {
	level, _ := sandbox.Level()
	var version int
	if _, err := fmt.Sscanf(level, "landlock, version %d", &version); err != nil || version < 6 {
		t.Skipf("SKIPPED: %q does not hold signals, without which a swarm may be faster", level)
	}
	endSwarm(t, &sandbox.Rules{})
}

func TestNoForkBombOutlivesTheReaper(t *testing.T) { endSwarm(t, nil) }

// endSwarm cancels a child, confined or not, that swarms.
func endSwarm(t *testing.T, confine *sandbox.Rules) {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("SKIPPED: there is no C compiler for something that swarms fast enough (as on Debian: apt install gcc libc6-dev)")
	}
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	defer held.Close()
	name := filepath.Join(t.TempDir(), "swarm")
	compile := exec.Command(compiler, "-x", "c", "-", "-o", name)
	compile.Stdin = strings.NewReader(swarm)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var cancelledAt time.Time
	_, err = process.Command{
		Args: []string{"/usr/bin/env", "-i", name}, Dir: t.TempDir(), Confine: confine, Inherit: []*os.File{held},
		Timeout: time.Minute, IdleTimeout: time.Minute,
		Line: func([]byte) error { cancelledAt = time.Now(); cancel(); return nil },
	}.Run(ctx)
	t.Logf("gone after %s", time.Since(cancelledAt))
	wantClass(t, err, engine.Cancelled)
	held.Close()
	// It is at its end once nobody is left who could write to it.
	if err := alive.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("some of the swarm have outlived the run: %v", err)
	}
}
