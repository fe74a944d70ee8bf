package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// secret signs the webhooks of a run.
const secret = "chaos"

// build builds the relay like a release, or with a clock that can be ahead.
func build(ctx context.Context, folder string, clocks bool) string {
	binary := filepath.Join(folder, "relay")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	var changes []program.Change
	if clocks {
		changes = skew(ctx)
	}
	steps.Must(program.Build(ctx, binary, "touchstone/relay", changes...))
	return binary
}

// relay is one relay's process. It keeps its address across restarts.
type relay struct {
	binary, store        string
	environment, flags   []string
	addressFile, logFile string

	address string
	process *program.Process
}

// start starts the process and waits until it listens.
func (r *relay) start(ctx context.Context, listen string) error {
	log, err := os.OpenFile(r.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	arguments := append([]string{"serve", "--listen", listen, "--store", r.store, "--address-file", r.addressFile}, r.flags...)
	command := exec.Command(r.binary, arguments...)
	command.Env = append(append(os.Environ(), r.environment...), "RELAY_GITHUB_SECRET="+secret)
	command.Stderr = log
	if r.process, err = program.Start(ctx, command, r.addressFile); err != nil {
		text, _ := os.ReadFile(r.logFile) // a partial log helps too
		return fmt.Errorf("start a relay: %w\n%s", err, tail(string(text)))
	}
	if r.address == "" { // later the address is the same, and others read it concurrently
		r.address = r.process.Addresses[0]
	}
	return nil
}

// tail returns the end of a log.
func tail(log string) string {
	const enough = 4 << 10
	return log[max(0, len(log)-enough):]
}

// kill ends the process like kill -9, and waits until it is gone.
func (r *relay) kill() {
	if r.process != nil {
		r.process.Stop(os.Kill)
	}
}
