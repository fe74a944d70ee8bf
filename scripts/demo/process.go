package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// grace is how long a process may take to clean up before it is killed.
const grace = 15 * time.Second

// process is one running program of the demo, with its own log.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	// done is closed when the program has ended; err is set before that.
	done chan struct{}
	err  error
}

// startProcess runs argv in its own process group, with its output in log, and calls ended with the reason
// when it ends.
func startProcess(name, log string, ended func(error), env []string, argv ...string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer file.Close()
	p := &process{name: name, log: log, cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	p.cmd.Dir = filepath.Dir(log)
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = file, file
	program.Isolate(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		ended(p.failure())
		close(p.done)
	}()
	return p, nil
}

// stop asks the process to end and, if it does not end in time, kills it and the rest of its group.
func (p *process) stop() {
	program.Terminate(p.cmd)
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	program.Kill(p.cmd)
	<-p.done
}

// failure describes the end of a process that was not asked to end.
func (p *process) failure() error {
	how := "without an error"
	if p.err != nil {
		how = "with " + p.err.Error()
	}
	return fmt.Errorf("%s ended %s. The end of its log:\n%s", p.name, how, tail(p.log))
}

// tail returns the last lines of a log, indented.
func tail(log string) string {
	const most = 12
	data, err := os.ReadFile(log)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-most):], "\n  ")
}

// address waits until the process has written the address on which it listens, and returns its URL.
func (p *process) address(ctx context.Context, file string) (string, error) {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		data, err := os.ReadFile(file)
		if address := strings.TrimSpace(string(data)); err == nil && address != "" {
			return "http://" + strings.TrimPrefix(address, "http://"), nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("learn where %s listens: %w", p.name, err)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-p.done:
			return "", p.failure()
		case <-look.C:
		}
	}
}

// watch runs a short-lived program to its end; ctx ends it with all its children. It returns the program's output,
// and passes it on as it is printed.
func watch(ctx context.Context, seen io.Writer, dir string, env []string, argv ...string) string {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var output bytes.Buffer
	both := io.MultiWriter(&output, seen)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, both, both
	program.Isolate(cmd)
	cmd.Cancel = func() error { program.Kill(cmd); return nil }
	cmd.WaitDelay = grace
	if err := cmd.Run(); err != nil {
		steps.Fail("%s: %w\n  %s", strings.Join(argv, " "), err, strings.ReplaceAll(strings.TrimSpace(output.String()), "\n", "\n  "))
	}
	return output.String()
}
