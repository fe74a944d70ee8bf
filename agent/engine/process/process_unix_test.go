//go:build linux || darwin

package process_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/process"
	"touchstone/worktree/await"
)

func detach(cmd *exec.Cmd, ownSession bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
}

// wantGone wants the processes that an actor told of to have ended.
func wantGone(t *testing.T, lines []string) {
	t.Helper()
	for _, pid := range pids(t, lines) {
		if alive(pid) {
			t.Errorf("process %d outlived the run", pid)
		}
	}
}

// alive reports whether a process runs; one that has ended but whose parent
// has not asked how, does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return runtime.GOOS != "linux"
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func TestCancelLeavesNoDescendant(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var lines []string
	cmd := actor("stubborn", &lines)
	gather := cmd.Line
	cmd.Line = func(line []byte) error {
		err := gather(line)
		if len(lines) == 3 {
			for _, pid := range pids(t, lines) {
				if !alive(pid) {
					t.Errorf("process %d has ended before the cancellation", pid)
				}
			}
			cancel()
		}
		return err
	}
	_, err := cmd.Run(ctx)
	wantClass(t, err, engine.Cancelled)
	if len(lines) != 3 {
		t.Fatalf("lines = %q; want three process ids", lines)
	}
	wantGone(t, lines)
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	var lines []string
	if _, err := actor("deserter", &lines).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantGone(t, lines)
}

func TestChildReadsTheFilesItIsGiven(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("handed over\n"); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	defer reader.Close()
	var lines []string
	cmd := actor("inherit", &lines)
	cmd.Inherit = []*os.File{reader}
	if _, err := cmd.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if lines[0] != "handed over" {
		t.Errorf("the child read %q", lines)
	}
}

// TestNothingOutlivesAKilledSupervisor kills a program that runs a child, which
// has children of its own; all of them ignore requests to end.
func TestNothingOutlivesAKilledSupervisor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only on Linux are processes found that left their group")
	}
	t.Parallel()
	killSupervisor(t, "parent", 3)
}

// killSupervisor kills a program that plays an act as soon as its child has named so many
// processes, and waits for them to be gone.
func killSupervisor(t *testing.T, act string, named int) {
	t.Helper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), actVariable+"="+act)
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(output)
	var lines []string
	for range named {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	tree := pids(t, lines)
	for _, pid := range tree {
		if !alive(pid) {
			t.Fatalf("process %d ended by itself", pid)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	waitGone(t, tree)
}

// waitGone waits for processes to have ended.
func waitGone(t *testing.T, tree []int) {
	t.Helper()
	await.Until(t, "the processes to have ended", func() bool { return !slices.ContainsFunc(tree, alive) })
}

// A program for another system counts as missing, which is not this machine's fault.
func TestProgramOfAnotherSystemIsReportedMissing(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "claude")
	enginetest.Program(t, program, "\x7fELF of another machine")
	_, err := process.Command{Args: []string{program}, Dir: t.TempDir(), Timeout: time.Minute, IdleTimeout: time.Minute,
		Line: func([]byte) error { return nil }}.Run(t.Context())
	var failure *engine.Error
	if !errors.As(err, &failure) || failure.Class != engine.Missing ||
		!strings.Contains(failure.Message, "is not a program for this machine, which is "+runtime.GOOS) {
		t.Errorf("error = %v (%+v)", err, failure)
	}
}

// TestAnAnswerThatGoesOnAtTheEndDoesNotCount: it was not complete when the child was stopped.
func TestAnAnswerThatGoesOnAtTheEndDoesNotCount(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("hesitant", &lines)
	cmd.Over = func() bool { return len(lines) == 1 }
	report, err := cmd.Run(context.Background())
	if wantClass(t, err, engine.Idle); report.Lingered || len(lines) != 2 {
		t.Errorf("%+v after %q", report, lines)
	}
}
