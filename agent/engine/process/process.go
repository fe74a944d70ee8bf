// Package process runs a model CLI as a supervised child: prompt in, lines
// out, never longer or quieter than allowed, and gone with all its descendants
// when Run returns. It owns that child and nothing else; what the lines mean
// is the engine's business.
package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/sandbox"
)

const (
	// MaxLine is the longest line of output in bytes; a longer one is left
	// out and counted in Report.LongLines.
	MaxLine = 16 << 20
	// MaxStderr is how much of the end of standard error is kept, in bytes.
	MaxStderr = 4 << 10
	// HeartbeatInterval is the silence between two calls of Command.Silence.
	HeartbeatInterval = 30 * time.Second
	// grace is the time between asking the child to end and killing it. It is short, so that
	// a new push does not wait: a child that needs longer to end its tools' processes, as
	// claude does, leaves that to the kill, which finds them all.
	grace = 500 * time.Millisecond
	// drain bounds the wait for the last output once every process is dead.
	drain = time.Second
	// markVariable marks every descendant: tools start sessions of their own, out of reach
	// of a signal to the group.
	markVariable = "TOUCHSTONE_SESSION"
)

// Command is one child to run.
type Command struct {
	// Args is the program and its arguments. A program without a slash is
	// looked for on this process's PATH, never in the working directory.
	Args []string
	Dir  string
	// Env is the child's whole environment.
	Env   []string
	Stdin string
	// Input, if set, takes the place of Stdin.
	Input *Input
	// Confine, if set, are the rules of a sandbox for the child, where the platform has
	// one.
	Confine *sandbox.Rules
	// Bounds are what the child and all that it starts may use.
	Bounds Bounds
	// Inherit become the child's descriptors 3, 4 …; not on Windows.
	Inherit []*os.File
	// Timeout bounds the run, IdleTimeout the time without a byte on standard
	// output or error and without a sign from Alive.
	Timeout, IdleTimeout time.Duration
	// Alive, if set, says by what is in it that the child is not idle although it
	// prints nothing.
	Alive <-chan struct{}
	// Working, if set, says whether the child waits for a program of its own just now: then it may
	// be idle for ToolTimeout. What ends that is to show by a byte or by Alive.
	Working     func() bool
	ToolTimeout time.Duration
	// Line is called for each line of output, without its end, which is valid
	// only during the call. An error from it stops the child and is returned.
	Line func(line []byte) error
	// Silence, if set, is called after each HeartbeatInterval without a byte.
	// Line and Silence are never called at once.
	Silence func(since time.Duration)
}

// Report is how a child ran, complete as far as it came.
type Report struct {
	Started time.Time
	// FirstByte and Duration count from Started.
	FirstByte, Duration time.Duration
	// Exit says how the child ended, such as "exit status 1".
	Exit string
	// Stderr is the end of standard error, at most MaxStderr bytes.
	Stderr string
	// LongLines counts lines left out for their length.
	LongLines int
}

// Run starts the child and waits until it and all its descendants are gone.
// The error is nil if the child ended by itself, however it exited; otherwise
// it is what Line returned or an *engine.Error of the classes Missing, Invalid,
// Idle, Timeout or Cancelled; or Crash, if some may still be there although they
// were killed.
func (c Command) Run(ctx context.Context) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, cancelled(ctx)
	}
	if !bootstrapped {
		return Report{}, engine.Errorf(engine.Invalid, "this program cannot run %s: its main does not begin with process.Bootstrap", c.Args[0])
	}
	path, err := LookPath(c.Args[0])
	if err != nil {
		return Report{}, err
	}
	if info, err := os.Stat(cmp.Or(c.Dir, ".")); err != nil || !info.IsDir() {
		return Report{}, engine.Errorf(engine.Invalid, "%s is not a directory to work in", c.Dir)
	}
	args := c.Args
	if c.Confine != nil {
		if path, args, err = c.Confine.Wrap(path, args); err != nil {
			return Report{}, startError(c.Args[0], err)
		}
	}
	mark := markVariable + "=" + rand.Text()
	cmd := exec.Command(path)
	cmd.Args = args
	cmd.Dir = c.Dir
	cmd.Env = append([]string{mark}, c.Env...)
	begun, ended, err := c.supply(cmd)
	if err != nil {
		return Report{}, startError(c.Args[0], err)
	}
	defer ended()
	cmd.ExtraFiles = c.Inherit
	// A descendant that keeps standard input open must not hold up Wait.
	cmd.WaitDelay = drain

	output, err := capture(cmd)
	if err != nil {
		begun()
		return Report{}, startError(c.Args[0], err)
	}
	bounds, _ := c.Bounds.Or() // doctor says where there are none
	child, err := launch(cmd, mark, c.Confine, bounds)
	begun()
	output.closeWriters()
	if err != nil {
		output.closeReaders()
		// That there may be no more namespaces is said as if of a disk (clone(2)).
		if c.Confine != nil && c.Confine.Alone && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EPERM)) {
			return Report{}, engine.Errorf(engine.Invalid, "%s cannot be started in a network of its own: this user may make no namespaces here; "+
				"allow them (sysctl user.max_user_namespaces), or set author.network to full", c.Args[0])
		}
		return Report{}, startError(c.Args[0], err)
	}
	w := &watch{Command: c, child: child, output: output, report: Report{Started: time.Now()}}
	err = w.run(ctx)
	w.report.Duration = time.Since(w.report.Started)
	w.report.Exit = w.child.exit()
	return w.report, err
}

// LookPath finds a program as Run does and gives its absolute path; the error
// is an *engine.Error of class Missing.
func LookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", &engine.Error{
			Class:   engine.Missing,
			Message: fmt.Sprintf("%s cannot be run: %v", program, err),
			Err:     err,
		}
	}
	return path, nil
}

// startError is Missing also when a script is there and its interpreter is not, or a program
// is another system's.
func startError(program string, err error) error {
	if errors.Is(err, syscall.ENOEXEC) {
		return &engine.Error{
			Class: engine.Missing, Err: err,
			Message: fmt.Sprintf("%s cannot be started: it is no program for this machine, which is %s on %s", program, runtime.GOOS,
				runtime.GOARCH),
		}
	}
	class := engine.Invalid
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		class = engine.Missing
	}
	return &engine.Error{
		Class:   class,
		Message: fmt.Sprintf("%s cannot be started: %v", program, err),
		Err:     err,
	}
}

func cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	message := "the session was cancelled"
	if !errors.Is(cause, context.Canceled) {
		message += ": " + cause.Error()
	}
	return &engine.Error{Class: engine.Cancelled, Message: message, Err: cause}
}
