package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/sandbox"
	"touchstone/worktree"
)

// Base is the part of a session that is the same for all CLIs: its home and its time.
type Base struct {
	Program Program
	Kind    Kind
	Request engine.Request
	Home    Home

	left   time.Duration
	closed bool
	// connect are the ports to which the CLI needs connections; empty means any.
	connect []uint16
}

// Open makes a home for a session.
func Open(program Program, kind Kind, req engine.Request) (*Base, error) {
	req, err := req.Bounded()
	if err != nil {
		return nil, engine.Classified(err)
	}
	home, err := NewHome(program.TempDir)
	if err != nil {
		return nil, engine.Classified(err)
	}
	return &Base{Program: program, Kind: kind, Request: req, Home: home, left: req.Timeout}, nil
}

// Left is the remaining time for all turns.
func (b *Base) Left() time.Duration { return b.left - b.Request.Shared().Time }

// Ready says why there can be no turn, or none with this prompt.
func (b *Base) Ready(prompt string) error {
	switch {
	case b.closed:
		return engine.Classified(errors.New("the session is closed"))
	case b.Left() <= 0:
		return engine.Errorf(engine.Timeout, "the session's %s are used up", b.Request.Timeout)
	case strings.TrimSpace(prompt) == "":
		return engine.Classified(errors.New("a turn needs a prompt"))
	}
	return b.Kind.checkPrompt(prompt)
}

// Run runs the CLI with these arguments for one turn. It runs in the checkout unless cmd.Dir is set, with the
// session's environment and the variables in cmd.Env.
func (b *Base) Run(ctx context.Context, cmd process.Command, args []string) (process.Report, error) {
	cmd.Args = b.Program.Args(b.Kind, args...)
	cmd.Dir = cmp.Or(cmd.Dir, b.Request.Dir)
	cmd.Env = append(b.Environment(), cmd.Env...)
	if b.Program.Confine && !b.Kind.Confines {
		if err := b.confine(&cmd); err != nil {
			return process.Report{}, engine.Classified(err)
		}
	}
	cmd.Bounds, cmd.MaxOutput = b.Program.Bounds, maxOutput
	cmd.Timeout, cmd.IdleTimeout = b.Left(), b.Request.IdleTimeout
	report, err := cmd.Run(ctx)
	b.left -= report.Duration
	if report.Lingered {
		zerolog.Ctx(ctx).Info().Str("engine", b.Kind.Name).Msg("the CLI answered but did not end, so it was stopped; its answer counts")
	}
	if err == nil && report.Exit != "exit status 0" {
		// Not every CLI says that it could not write to its home.
		if full := worktree.NoRoom(b.Home.Dir, scarce); full != nil {
			return report, engine.Classified(fmt.Errorf("%s ended (%s): %w", b.Kind.Name, report.Exit, full))
		}
	}
	return report, b.Kind.missing(err)
}

// maxOutput bounds, in bytes, what a CLI prints in one turn: far more than the events of a session of many hours. A CLI that
// repeats what an endless command prints would otherwise be read until the session's time is over.
const maxOutput = 1 << 30

// scarce is a number of bytes. If a CLI fails and the disk of its home has less room, that counts as the
// reason.
const scarce = 1 << 20

// Environment is Program.Environment for this session.
func (b *Base) Environment() []string {
	return b.Program.Environment(b.Kind, b.Home, b.Request.Dir)
}

// confine puts the CLI into a sandbox, and an author's commands into a second one.
func (b *Base) confine(cmd *process.Command) error {
	var rules sandbox.Rules
	user := b.Program.UserHome()
	if b.Request.Role == engine.Author {
		rules = sandbox.Author(append([]string{b.Request.Dir}, b.Request.ReadDirs...), b.Home.Dir, cmd.Env, user, b.Program.Private)
		shell, err := b.shell(cmd.Env)
		if err != nil {
			return err
		}
		cmd.Env = append(cmd.Env, shell...)
		if b.Program.Closed {
			if err := b.closable(); err != nil {
				return err
			}
			rules.Connect = b.connect
		}
	} else {
		rules = sandbox.Reviewer(append([]string{b.Request.Dir}, b.Request.ReadDirs...), b.Home.Dir, user, b.Program.Private)
		rules.Connect = b.connect
	}
	cmd.Confine = &rules
	return nil
}

// closable says why the session cannot be limited to its gateway.
func (b *Base) closable() error {
	if err := sandbox.Network(); err != nil {
		return fmt.Errorf("author.network is gateway, which cannot be enforced here: %w; set it to full, or run the agent on Linux 6.7 or "+
			"newer", err)
	}
	if len(b.connect) == 0 {
		return errors.New("author.network is gateway, but this session connects to its provider without one; give it an API key, or set " +
			"author.network to full")
	}
	return nil
}

// Close removes the session's home.
func (b *Base) Close() error {
	b.closed = true
	return b.Home.Remove()
}
