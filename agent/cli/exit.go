package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/verdict"
)

// Exit codes, the same for every command.
const (
	ExitDone           = 0 // done, or approved
	ExitFailed         = 1 // anything else
	ExitUsage          = 2 // the command line or the configuration is wrong
	ExitRequestChanges = 10
	ExitInconclusive   = 20 // the model did not finish, or the command was stopped
)

// Exit is an error with an exit code. If it has no message, the command has already printed everything.
type Exit struct {
	// Code is the process's exit code.
	Code int
	err  error
}

// Error returns the message, empty if there is none.
func (e Exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the error that ended the command.
func (e Exit) Unwrap() error { return e.err }

// OnePull validates the arguments of a command about one pull request.
func OnePull(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("the pull request is missing: write 12, owner/name#12 or the address of its page")
	case 1:
		return nil
	}
	return fmt.Errorf("%q are %d arguments; give one pull request at a time", args, len(args))
}

// Usage returns the error of a command line that cannot be understood. Of a command that was stopped, it returns
// the error as it is.
func Usage(cmd *cobra.Command, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	see := "; see"
	if strings.HasSuffix(err.Error(), "?") {
		see = " See"
	}
	return Exit{ExitUsage, fmt.Errorf("%w%s `%s --help`", err, see, cmd.CommandPath())}
}

// Inconclusive adds the exit code for a session that did not finish.
func Inconclusive(err error) error {
	if _, ok := errors.AsType[*engine.Error](err); ok {
		return Exit{ExitInconclusive, fmt.Errorf("the model did not finish and nothing was posted: %w", err)}
	}
	return err
}

// VerdictExit returns the exit code of a review's verdict, nil for an approval.
func VerdictExit(v verdict.Verdict) error {
	if v == verdict.Approve {
		return nil
	}
	return Exit{Code: ExitRequestChanges}
}

// Ending returns how the program exits after a command's error.
func Ending(ctx context.Context, err error) Exit {
	var coded Exit
	switch {
	case err == nil:
		return Exit{Code: ExitDone}
	case errors.As(err, &coded):
		return Exit{coded.Code, err}
	case errors.As(err, new(config.Mistake)):
		return Exit{ExitUsage, err}
	case ctx.Err() == nil:
		return Exit{ExitFailed, err}
	case errors.Is(err, context.Canceled), errors.As(err, new(*exec.ExitError)): // a terminal interrupts git as well
		return Exit{ExitInconclusive, errors.New("this was stopped before it finished; run it again")}
	}
	return Exit{ExitInconclusive, fmt.Errorf("this was stopped before it finished; its last error: %w", err)}
}
