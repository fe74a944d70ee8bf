// Package claude drives the claude CLI (https://code.claude.com/docs/en/headless)
// as an engine: how it is called and confined, what its events mean, and why a
// turn failed. It owns the session's home directory, which lasts until Close;
// in it the CLI keeps the conversation.
package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
)

// Engine is the claude CLI. The zero value runs "claude" from PATH with what
// this process's environment knows of a login.
type Engine struct {
	// Command is the program and its leading arguments; empty is "claude".
	Command []string
	// Environ is where the variables that a session may have are taken from,
	// as "name=value"; nil is this process's environment.
	Environ []string
	// TempDir is where the sessions' homes are made; empty is the system's choice.
	TempDir string
}

var _ engine.Engine = (*Engine)(nil)

// Name is "claude".
func (e *Engine) Name() string { return "claude" }

const probeTimeout = 10 * time.Second

var versionNumber = regexp.MustCompile(`^\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// Probe asks the CLI for its version, and looks whether a stored login can be
// used. That there is none at all shows only in a session.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	path, err := process.LookPath(e.command()[0])
	if err != nil {
		return engine.Version{}, missing(err)
	}
	home, err := e.newHome("")
	if err != nil {
		return engine.Version{}, unstarted(err)
	}
	// What the version is, is known all the same.
	defer func() { _ = os.RemoveAll(home) }()
	var printed []byte
	report, err := process.Command{
		Args: append(e.command(), "--version"), Dir: home, Env: e.environment(home),
		Timeout: probeTimeout, IdleTimeout: probeTimeout,
		Line: func(line []byte) error {
			if printed == nil {
				printed = append(printed, line...)
			}
			return nil
		},
	}.Run(ctx)
	if err != nil {
		return engine.Version{}, missing(err)
	}
	number := versionNumber.Find(printed)
	if number == nil {
		return engine.Version{}, engine.Errorf(engine.Missing, "%s does not say its version (%s): it is not the claude CLI, or its installation is broken; %s",
			path, report.Exit, installHint)
	}
	_, err = e.login(0)
	return engine.Version{Path: path, Number: string(number)}, err
}

// Open begins a session.
func (e *Engine) Open(_ context.Context, req engine.Request) (engine.Session, error) {
	req, err := req.Bounded()
	if err != nil {
		return nil, unstarted(err)
	}
	args, err := arguments(req)
	if err != nil {
		return nil, unstarted(err)
	}
	home, err := e.newHome(req.Instructions)
	if err != nil {
		return nil, unstarted(err)
	}
	return &session{engine: e, req: req, args: args, home: home, left: req.Timeout}, nil
}

// unstarted gives a class to what kept a session from beginning.
func unstarted(err error) error {
	var failure *engine.Error
	if errors.As(err, &failure) {
		return err
	}
	return &engine.Error{Class: engine.Invalid, Message: err.Error(), Err: err}
}

func (e *Engine) command() []string {
	if len(e.Command) == 0 {
		return []string{"claude"}
	}
	return append([]string(nil), e.Command...)
}

// newHome makes the directory that a session takes for its user's home. It
// holds the instructions where the CLI looks for its user's CLAUDE.md.
func (e *Engine) newHome(instructions string) (string, error) {
	home, err := os.MkdirTemp(e.TempDir, "touchstone-")
	if err != nil {
		return "", fmt.Errorf("make a home for the session: %w", err)
	}
	for _, dir := range []string{configDir(home), tempDir(home)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", errors.Join(fmt.Errorf("make a home for the session: %w", err), os.RemoveAll(home))
		}
	}
	if err := os.WriteFile(filepath.Join(configDir(home), "CLAUDE.md"), []byte(instructions), 0o600); err != nil {
		return "", errors.Join(fmt.Errorf("write the session's instructions: %w", err), os.RemoveAll(home))
	}
	return home, nil
}

func configDir(home string) string { return filepath.Join(home, ".claude") }
func tempDir(home string) string   { return filepath.Join(home, "tmp") }

const installHint = `install it with "npm install -g @anthropic-ai/claude-code", or name its path in the configuration`

// missing adds the remedy to a CLI that is not there.
func missing(err error) error {
	var failure *engine.Error
	if errors.As(err, &failure) && failure.Class == engine.Missing {
		return &engine.Error{
			Class: engine.Missing, Err: failure.Err,
			Message: strings.TrimSuffix(failure.Message, ".") + "; " + installHint,
		}
	}
	return err
}
