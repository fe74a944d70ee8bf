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

	"touchstone/worktree/steps"
)

// guardAttacks are contents of a pull request that try to make the guard give up, or see nothing.
var guardAttacks = []attack{
	{"a workflow of aliases takes the guard's memory", examined(aliases, ".github/workflows/ci.yml")},
	{"a link in the settings' place is passed over", examined(linkedSettings, ".touchstone/config.yaml")},
}

// Limits for the guard's examination of one small change, in processor time and memory.
const (
	maxGuardTime   = 10 * time.Second
	maxGuardMemory = 400 << 20
)

// aliases creates a workflow of nested lists of ten entries each, with ten levels, which is 10 GB when it is
// expanded.
func aliases(folder string) error {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	return os.WriteFile(filepath.Join(folder, ".github", "workflows", "ci.yml"), []byte(text+"on: *a9\njobs: {}\n"), 0o600)
}

// linkedSettings makes the directory of the settings a link to another place.
func linkedSettings(folder string) error {
	path := filepath.Join(folder, ".touchstone")
	return errors.Join(os.RemoveAll(path), os.Symlink("/etc", path))
}

// examined has the guard examine a change of a repository, and expects it to hold the change because of a
// file, within the limits.
func examined(change func(folder string) error, file string) func(context.Context, string) string {
	return func(ctx context.Context, bin string) string {
		program := steps.Got(filepath.Abs(filepath.Join(bin, "touchstone")))
		folder := steps.Got(os.MkdirTemp("", "break"))
		defer os.RemoveAll(folder)
		git := func(args ...string) {
			steps.Must(execute("git", append([]string{"-C", folder, "-c", "user.name=break", "-c", "user.email=break@example.com"}, args...)...))
		}
		git("init", "-q", "-b", "main")
		for name, text := range map[string]string{
			".github/workflows/ci.yml": "on: pull_request\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: go test ./...\n",
			".touchstone/config.yaml":  "verify:\n  command: [go, test, ./...]\n",
		} {
			path := filepath.Join(folder, filepath.FromSlash(name))
			steps.Must(os.MkdirAll(filepath.Dir(path), 0o700))
			steps.Must(os.WriteFile(path, []byte(text), 0o600))
		}
		git("add", "-A")
		git("commit", "-q", "-m", "Begin")
		steps.Must(change(folder))
		// The system counts the memory of a process's parent as its own, so memory is limited and not
		// measured.
		look := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$@"`, maxGuardMemory>>10),
			"sh", program, "guard", "--base", "main")
		look.Dir = folder
		var said bytes.Buffer
		look.Stdout, look.Stderr = &said, &said
		if err := look.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			steps.Must(err)
		}
		took := look.ProcessState.UserTime() + look.ProcessState.SystemTime()
		switch {
		case took > maxGuardTime:
			return fmt.Sprintf("the guard took %s of processor time", took)
		case look.ProcessState.ExitCode() != 10 || !strings.Contains(said.String(), file):
			return fmt.Sprintf("the guard ended with %d and said %.300q", look.ProcessState.ExitCode(), said.String())
		}
		return ""
	}
}
