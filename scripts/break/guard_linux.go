package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// guardAttacks are what a pull request may hold to have the guard give up, or see nothing.
var guardAttacks = []attack{
	{"a workflow of aliases takes the guard's memory", examined(aliases, ".github/workflows/ci.yml")},
	{"a link in the settings' place is passed over", examined(linkedSettings, ".touchstone/config.yaml")},
}

// Bounds of the guard's look at one small change, in processor time and memory.
const (
	maxGuardTime   = 10 * time.Second
	maxGuardMemory = 400 << 20
)

// aliases makes a workflow of a list of ten entries ten times, ten times over, that is 10 GB when it is written out.
func aliases(folder string) error {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	return os.WriteFile(filepath.Join(folder, ".github", "workflows", "ci.yml"), []byte(text+"on: *a9\njobs: {}\n"), 0o600)
}

// linkedSettings has the folder of the settings be a link to what lies elsewhere.
func linkedSettings(folder string) error {
	path := filepath.Join(folder, ".touchstone")
	return errors.Join(os.RemoveAll(path), os.Symlink("/etc", path))
}

// examined has the guard look at a change of a repository, and expects that it holds the change for a
// file within the bounds.
func examined(change func(folder string) error, file string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (string, error) {
		program, err := filepath.Abs(filepath.Join(bin, "touchstone"))
		if err != nil {
			return "", err
		}
		folder, err := os.MkdirTemp("", "break")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(folder)
		git := func(args ...string) error {
			return command("git", append([]string{"-C", folder, "-c", "user.name=break", "-c", "user.email=break@example.com"}, args...)...)
		}
		err = git("init", "-q", "-b", "main")
		for name, text := range map[string]string{
			".github/workflows/ci.yml": "on: pull_request\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: go test ./...\n",
			".touchstone/config.yaml":  "verify:\n  command: [go, test, ./...]\n",
		} {
			path := filepath.Join(folder, filepath.FromSlash(name))
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
		}
		for _, step := range []func() error{
			func() error { return git("add", "-A") }, func() error { return git("commit", "-q", "-m", "Begin") },
			func() error { return change(folder) },
		} {
			if err == nil {
				err = step()
			}
		}
		if err != nil {
			return "", err
		}
		// The system counts the memory of who starts a process as the process's own, so it is held to the bound and not measured.
		look := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$@"`, maxGuardMemory>>10),
			"sh", program, "guard", "--base", "main")
		look.Dir = folder
		var said bytes.Buffer
		look.Stdout, look.Stderr = &said, &said
		var exit *exec.ExitError
		if err := look.Run(); err != nil && !errors.As(err, &exit) {
			return "", err
		}
		took := look.ProcessState.UserTime() + look.ProcessState.SystemTime()
		switch {
		case took > maxGuardTime:
			return fmt.Sprintf("the guard took %s of processor time", took), nil
		case look.ProcessState.ExitCode() != 10 || !strings.Contains(said.String(), file):
			return fmt.Sprintf("the guard ended with %d and said %.300q", look.ProcessState.ExitCode(), said.String()), nil
		}
		return "", nil
	}
}
