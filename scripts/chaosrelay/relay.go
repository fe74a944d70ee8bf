package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// secret signs the webhooks of a run.
const secret = "chaos"

// startTimeout is how long a relay may take until it listens.
const startTimeout = time.Minute

// build builds the relay as it is shipped, or with a clock that can be ahead.
func build(ctx context.Context, folder string, clocks bool) (string, error) {
	binary := filepath.Join(folder, "relay")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	arguments := []string{"build", "-trimpath", "-o", binary}
	if clocks {
		overlay, err := skew(ctx, folder)
		if err != nil {
			return "", err
		}
		arguments = append(arguments, "-overlay", overlay)
	}
	command := exec.CommandContext(ctx, "go", append(arguments, "touchstone/relay")...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the relay: %w\n%s", err, out)
	}
	return binary, nil
}

// relay is one relay's process. It keeps its address when it is started again.
type relay struct {
	binary, store        string
	environment, flags   []string
	addressFile, logFile string

	address string
	command *exec.Cmd
}

// start starts the process and waits until it listens.
func (r *relay) start(ctx context.Context, listen string) error {
	if err := os.Remove(r.addressFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	log, err := os.OpenFile(r.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	arguments := append([]string{"serve", "--listen", listen, "--store", r.store, "--address-file", r.addressFile}, r.flags...)
	r.command = exec.Command(r.binary, arguments...)
	r.command.Env = append(append(os.Environ(), r.environment...), "RELAY_GITHUB_SECRET="+secret)
	r.command.Stderr = log
	if err := r.command.Start(); err != nil {
		return fmt.Errorf("start a relay: %w", err)
	}
	if err := r.wait(ctx); err != nil {
		r.kill()
		text, _ := os.ReadFile(r.logFile) // a partial log helps too
		return fmt.Errorf("start a relay: %w\n%s", err, tail(string(text)))
	}
	return nil
}

// wait reads the address that the relay writes once it listens.
func (r *relay) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		text, err := os.ReadFile(r.addressFile)
		if err == nil {
			if r.address == "" { // later it is the same, and others read it meanwhile
				r.address = strings.TrimSpace(string(text))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// tail is the end of a log.
func tail(log string) string {
	const enough = 4 << 10
	return log[max(0, len(log)-enough):]
}

// kill ends the process as kill -9 does, and waits until it is gone.
func (r *relay) kill() {
	if r.command.ProcessState == nil {
		// It is gone in any case, and how it went is no news.
		_ = r.command.Process.Kill()
		_ = r.command.Wait()
	}
}
