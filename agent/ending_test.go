package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/cli"
	"touchstone/agent/githubsim/simtest"
)

// TestInterruptBeforeTheStartEndsTheCommand has a person press Ctrl-C before a command has begun.
func TestInterruptBeforeTheStartEndsTheCommand(t *testing.T) {
	dir := t.TempDir()
	for _, variable := range []string{"HOME", "XDG_CONFIG_HOME", "APPDATA", "XDG_STATE_HOME", "LOCALAPPDATA"} {
		t.Setenv(variable, dir)
	}
	t.Setenv("GITHUB_TOKEN", simtest.Token(judge))
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=alice", "-c", "user.email=a@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	t.Chdir(dir)
	git("init", "-q", "-b", "main")
	if err := os.WriteFile("a.go", []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "Begin")
	for _, line := range []string{
		"review --local", "review 1 --repo acme/app", "fix 1 --repo acme/app", "why 1 --repo acme/app --reviewer judge",
		"guard --base main", "guidelines show --base main", "run --mode reviewer --repo acme/app",
	} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		cmd := newRoot()
		cmd.SetArgs(strings.Fields(line))
		end := cli.Ending(ctx, cmd.ExecuteContext(ctx))
		if end.Code != cli.ExitInconclusive || sentence("touchstone: "+end.Error()) != nil ||
			!strings.Contains(end.Error(), "stopped before it finished") || strings.Contains(end.Error(), "context") {
			t.Errorf("%s: exits %d and says %q", line, end.Code, end.Error())
		}
	}
}

// TestAnErrorCannotControlTheTerminal has a file whose name does, as a server's answer might.
func TestAnErrorCannotControlTheTerminal(t *testing.T) {
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	before := os.Stderr
	defer func() { os.Stderr = before }()
	os.Stderr = said
	code := run(t.Context(), []string{"status", "--config", "clear\x1b[2J.yaml"})
	text, err := os.ReadFile(said.Name())
	if err != nil || code != cli.ExitUsage || !strings.Contains(string(text), "clear\uFFFD[2J.yaml") {
		t.Errorf("exits %d and says %q, %v", code, text, err)
	}
}

func TestExitCodesAndMessagesOfErrors(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	broken := errors.New("the disk is full")
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		text string
	}{
		"done":               {stopped, nil, cli.ExitDone, ""},
		"a verdict":          {stopped, cli.Exit{Code: cli.ExitRequestChanges}, cli.ExitRequestChanges, ""},
		"a usage":            {t.Context(), cli.Usage(newRoot(), broken), cli.ExitUsage, "the disk is full; see `touchstone --help`"},
		"broken":             {t.Context(), broken, cli.ExitFailed, "the disk is full"},
		"broken and stopped": {stopped, broken, cli.ExitInconclusive, "this was stopped before it finished; its last error: the disk is full"},
		"stopped with git": {stopped, fmt.Errorf("git add: %w", &exec.ExitError{}), cli.ExitInconclusive,
			"this was stopped before it finished; run it again"},
		"git failed": {t.Context(), fmt.Errorf("git add: %w", &exec.ExitError{ProcessState: &os.ProcessState{}}), cli.ExitFailed,
			"git add: exit status 0"},
	} {
		if end := cli.Ending(test.ctx, test.err); end.Code != test.code || end.Error() != test.text {
			t.Errorf("%s: exits %d and says %q", name, end.Code, end.Error())
		}
	}
}
