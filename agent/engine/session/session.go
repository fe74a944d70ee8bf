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

// Left is the remaining time for all turns.
func (g *Gated) Left() time.Duration { return g.left - g.Request.Shared().Time }

// Ready says why there can be no turn, or none with this prompt.
func (g *Gated) Ready(prompt string) error {
	switch {
	case g.closed:
		return engine.Classified(errors.New("the session is closed"))
	case g.Left() <= 0:
		return engine.Errorf(engine.Timeout, "the session's %s are used up", g.Request.Timeout)
	case strings.TrimSpace(prompt) == "":
		return engine.Classified(errors.New("a turn needs a prompt"))
	}
	if err := g.Kind.checkPrompt(prompt); err != nil {
		return err
	}
	if over := g.Account.Exhausted(); over != nil {
		return over
	}
	return nil
}

// run runs the CLI, in the checkout unless cmd.Dir is set, with the session's environment and the variables in cmd.Env.
func (g *Gated) run(ctx context.Context, cmd process.Command, args []string) (process.Report, error) {
	cmd.Args = g.Program.Args(g.Kind, args...)
	cmd.Dir = cmp.Or(cmd.Dir, g.Request.Dir)
	cmd.Env = append(g.Environment(), cmd.Env...)
	if g.Program.Confine && !g.Kind.Confines {
		if err := g.confine(&cmd); err != nil {
			return process.Report{}, engine.Classified(err)
		}
	}
	cmd.Bounds, cmd.MaxOutput = g.Program.Bounds, maxOutput
	cmd.Timeout, cmd.IdleTimeout = g.Left(), g.Request.IdleTimeout
	report, err := cmd.Run(ctx)
	g.left -= report.Duration
	if report.Lingered {
		zerolog.Ctx(ctx).Info().Str("engine", g.Kind.Name).Msg("the CLI answered but did not end, so it was stopped; its answer counts")
	}
	if err == nil && report.Exit != "exit status 0" {
		// Not every CLI says that it could not write to its home.
		if full := worktree.NoRoom(g.Home.Dir, scarce); full != nil {
			return report, engine.Classified(fmt.Errorf("%s ended (%s): %w", g.Kind.Name, report.Exit, full))
		}
	}
	return report, g.Kind.missing(err)
}

// maxOutput bounds, in bytes, what a CLI prints in one turn: far more than the events of a session of many hours. A CLI that
// repeats what an endless command prints would otherwise be read until the session's time is over.
const maxOutput = 1 << 30

// scarce is a number of bytes. If a CLI fails and the disk of its home has less room, that counts as the
// reason.
const scarce = 1 << 20

// Environment is Program.Environment for this session.
func (g *Gated) Environment() []string {
	return g.Program.Environment(g.Kind, g.Home, g.Request.Dir)
}

// confine puts the CLI into a sandbox, and an author's commands into a second one.
func (g *Gated) confine(cmd *process.Command) error {
	dirs, user := append([]string{g.Request.Dir}, g.Request.ReadDirs...), g.Program.UserHome()
	rules := sandbox.Reviewer(dirs, g.Home.Dir, user, g.Program.Private)
	if g.Request.Role == engine.Author {
		rules = sandbox.Author(dirs, g.Home.Dir, cmd.Env, user, g.Program.Private)
		shell, err := g.shell(cmd.Env)
		if err != nil {
			return err
		}
		cmd.Env = append(cmd.Env, shell...)
		if g.Program.Closed {
			if err := g.closable(); err != nil {
				return err
			}
		}
	}
	if g.Gateway != nil && (g.Request.Role == engine.Reviewer || g.Program.Closed) {
		rules.Connect = []uint16{g.Gateway.Port}
	}
	cmd.Confine = &rules
	return nil
}

// closable says why the session cannot be limited to its gateway.
func (g *Gated) closable() error {
	if err := sandbox.Network(); err != nil {
		return fmt.Errorf("author.network is gateway, which cannot be enforced here: %w; set it to full, or run the agent on Linux 6.7 or "+
			"newer", err)
	}
	if g.Gateway == nil {
		return errors.New("author.network is gateway, but this session connects to its provider without one; give it an API key, or set " +
			"author.network to full")
	}
	return nil
}

// Close closes the gateway and removes the session's home.
func (g *Gated) Close() error {
	g.closed = true
	if g.Gateway == nil {
		return g.Home.Remove()
	}
	return errors.Join(g.Gateway.Close(), g.Home.Remove())
}
