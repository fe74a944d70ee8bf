package main

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
)

// ciCommand decides check runs by a shell command's exit status.
type ciCommand struct {
	line    string
	timeout time.Duration
}

// passed is the part of the environment that the command sees. It runs what
// somebody pushed, so it sees no credentials.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "LANG", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "LOCALAPPDATA",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOROOT", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "CGO_ENABLED",
}

func (ci ciCommand) run(ctx context.Context, _, _, dir string) githubsim.CIResult {
	ctx, cancel := context.WithTimeout(ctx, ci.timeout)
	defer cancel()
	cmd := shell(ctx, ci.line)
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
	result := githubsim.CIResult{Conclusion: "success", Summary: "`" + ci.line + "` passed", Log: log.String()}
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		result.Conclusion, result.Summary = "timed_out", fmt.Sprintf("`%s` took longer than %s", ci.line, ci.timeout)
	case ctx.Err() != nil:
		result.Conclusion, result.Summary = "cancelled", "the simulator is shutting down"
	case errors.As(err, &exit):
		result.Conclusion, result.Summary = "failure", fmt.Sprintf("`%s` failed: %s", ci.line, lastLine(log.String()))
	case err != nil:
		result.Conclusion, result.Summary = "failure", err.Error()
	}
	return result
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
