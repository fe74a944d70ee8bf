// Package ci decides the checks of a simulated GitHub with a shell command.
package ci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"touchstone/agent/githubsim"
	"touchstone/scripts/program"
)

// Command decides check runs by the exit status of a shell command, which may run for Timeout.
type Command struct {
	Line    string
	Timeout time.Duration
}

// passed is the part of the environment that the command gets. The command runs pushed code, so it gets no
// credentials.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "LANG", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "LOCALAPPDATA",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOROOT", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "CGO_ENABLED",
}

// Run runs the command in a checkout.
func (ci Command) Run(ctx context.Context, _, _, dir string) githubsim.CIResult {
	ctx, cancel := context.WithTimeout(ctx, ci.Timeout)
	defer cancel()
	cmd := program.Shell(ctx, ci.Line)
	program.Isolate(cmd) // all that the command starts ends with it
	cmd.Cancel = func() error { program.Kill(cmd); return nil }
	cmd.Dir = dir
	cmd.Env = []string{"CI=true"}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	result := githubsim.CIResult{Conclusion: "success", Summary: "`" + ci.Line + "` passed", Log: log.String()}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		result.Conclusion, result.Summary = "timed_out", fmt.Sprintf("`%s` took longer than %s", ci.Line, ci.Timeout)
	case ctx.Err() != nil:
		result.Conclusion, result.Summary = "cancelled", "the simulator is shutting down"
	case errors.As(err, new(*exec.ExitError)):
		result.Conclusion, result.Summary = "failure", fmt.Sprintf("`%s` failed: %s", ci.Line, lastLine(log.String()))
	case err != nil:
		result.Conclusion, result.Summary = "failure", err.Error()
	}
	return result
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
