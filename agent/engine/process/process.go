// Package process runs a model CLI as a supervised child: prompt in, lines out, never longer or more quiet
// than allowed. When Run returns, the child and all its descendants have ended. The package knows nothing
// about the meaning of the lines: that is up to the engine.
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
	// MaxLine is the longest line of output, in bytes. A longer line is left out.
	MaxLine = 16 << 20
	// MaxStderr is how much of the end of standard error is kept, in bytes.
	MaxStderr = 4 << 10
	// HeartbeatInterval is the silence between two calls of Command.Silence.
	HeartbeatInterval = 30 * time.Second
	// grace is the time between asking the child to end and killing it. It is short, so that a new push does
	// not wait. A child such as claude that needs longer to end its tools' processes leaves that to the kill,
	// which finds all of them.
	grace = 500 * time.Millisecond
	// drain bounds the wait for the last output after every process has ended.
	drain = time.Second
	// markVariable marks every descendant: tools start sessions of their own, which a signal to the group
	// does not reach.
	markVariable = "TOUCHSTONE_SESSION"
)

// Command is one child to run.
type Command struct {
	// Args is the program and its arguments. A program without a slash is searched on this process's PATH,
	// never in the working directory.
	Args []string
	Dir  string
	// Env is the child's whole environment.
	Env   []string
	Stdin string
	// Input, if set, replaces Stdin.
	Input *Input
	// Confine, if set, is the sandbox for the child, on platforms that have one.
	Confine *sandbox.Rules
	// Bounds are the limits for the child and its descendants.
	Bounds Bounds
	// Inherit become the child's descriptors 3, 4 …; not on Windows.
	Inherit []*os.File
	// Timeout bounds the run. IdleTimeout bounds the time without a byte on standard output or error and
	// without a signal from Alive.
	Timeout, IdleTimeout time.Duration
	// Alive, if set, receives a value whenever the child is known to be working although it prints nothing.
	Alive <-chan struct{}
	// Signs, if set, is called after each value from Alive.
	Signs func()
	// Working, if set, reports whether the child is waiting for a program that it runs. Then it may be idle
	// for ToolTimeout. The end of that program must show by a byte or by Alive.
	Working     func() bool
	ToolTimeout time.Duration
	// Over, if set, reports whether the child has said all that it has to say. A child that does not end soon after that
	// is stopped as one that has ended by itself, unless it says more meanwhile.
	Over func() bool
	// Asking, if set, reports whether the child waits for an answer from elsewhere. It is not over then, as it may have
	// more to say.
	Asking func() bool
	// MaxOutput bounds, in bytes, what the child may print on standard output and error together; zero means no bound.
	MaxOutput int64
	// Line is called for each line of output, without its newline. The slice is only valid during the call.
	// An error stops the child and is returned by Run.
	Line func(line []byte) error
	// Silence, if set, is called after each HeartbeatInterval without a byte. Line, Over, Signs and
	// Silence are never called concurrently.
	Silence func(since time.Duration)
}

// Report describes a run, as far as it came.
type Report struct {
	Started time.Time
	// FirstByte and Duration count from Started.
	FirstByte, Duration time.Duration
	// Exit says how the child ended, such as "exit status 1".
	Exit string
	// Stderr is the end of standard error, at most MaxStderr bytes.
	Stderr string
	// Lingered says that the child was stopped because it did not end after it was Over.
	Lingered bool
}

// lingering is how long a child may take to end once it is over: it may still have to store its conversation. It is
// changed only by tests.
var lingering = 10 * time.Second

// Run starts the child and waits until it and all its descendants have ended. The error is nil if the child
// ended by itself, whatever its exit status, or was Over. Otherwise it is the error of Line, or an *engine.Error of class
// Missing, Invalid, Idle, Timeout, Cancelled or, for MaxOutput, BadOutput, or of class Crash if some descendants may still exist
// although they were killed.
func (c Command) Run(ctx context.Context) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, cancelled(ctx)
	}
	if !bootstrapped {
		return Report{}, engine.Errorf(engine.Invalid, "this program cannot run %s: its main does not call process.Bootstrap first", c.Args[0])
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
	// A descendant that keeps standard input open must not delay Wait.
	cmd.WaitDelay = drain

	output, err := capture(cmd)
	if err != nil {
		begun()
		return Report{}, startError(c.Args[0], err)
	}
	bounds, _ := c.Bounds.Or() // doctor reports if there are none
	tree, err := start(cmd, mark, c.Confine, bounds)
	begun()
	closeAll(output.writers)
	if err != nil {
		closeAll(output.readers)
		// The kernel reports a lack of namespaces with the error of a full disk (clone(2)).
		if c.Confine != nil && c.Confine.Alone && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EPERM)) {
			return Report{}, engine.Errorf(engine.Invalid, "%s cannot be started in its own network namespace: this user may not create "+
				"namespaces here; allow them (sysctl user.max_user_namespaces), or set author.network to full", c.Args[0])
		}
		return Report{}, startError(c.Args[0], err)
	}
	w := &watch{Command: c, tree: tree, exited: make(chan struct{}), output: output, report: Report{Started: time.Now(), Exit: "not ended"}}
	go func() { // also after Run has returned, if processes outlived it
		// Even if Wait has an error, cmd.ProcessState says how the command exited.
		_ = cmd.Wait()
		close(w.exited)
	}()
	err = w.run(ctx)
	w.report.Duration = time.Since(w.report.Started)
	select {
	case <-w.exited:
		w.report.Exit = tree.exit(cmd.ProcessState)
	default:
	}
	return w.report, err
}

// LookPath finds a program in the same way as Run and returns its absolute path. The error is an
// *engine.Error of class Missing.
func LookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", &engine.Error{Class: engine.Missing, Message: fmt.Sprintf("%s cannot be run: %v", program, err), Err: err}
	}
	return path, nil
}

// startError has class Missing also if a script's interpreter is missing, or if a program is for another
// platform.
func startError(program string, err error) error {
	class, why := engine.Invalid, err.Error()
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		class, why = engine.Missing, fmt.Sprintf("it is not a program for this machine, which is %s on %s", runtime.GOOS, runtime.GOARCH)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		class = engine.Missing
	}
	return &engine.Error{Class: class, Message: fmt.Sprintf("%s cannot be started: %s", program, why), Err: err}
}

func cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	message := "the session was cancelled"
	if !errors.Is(cause, context.Canceled) {
		message += ": " + cause.Error()
	}
	return &engine.Error{Class: engine.Cancelled, Message: message, Err: cause}
}
