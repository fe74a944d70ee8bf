package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// conversation is a session. Each turn starts a new session of the agent and repeats what was said before:
// not every agent can load a session, and gemini loses a session that is loaded within a minute of its start
// (seen in 0.61.0).
type conversation struct {
	*session.Gated
	agent agent
	// secrets are logins that must not show up in errors or reports.
	secrets []string
	// dirs are the checkout and other readable directories, absolute and without symbolic links.
	dirs   []string
	orders string
	// id is the agent's id of its first session.
	id string
	// before is what was said in earlier turns.
	before strings.Builder
}

// Redact removes the session's logins from a text.
func (c *conversation) Redact(text string) string {
	text = c.Gated.Redact(text)
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// environment is the agent's environment in addition to that of all sessions.
func (c *conversation) environment() []string {
	var env []string
	if c.Kind.Shell != "" && c.Request.Role == engine.Author {
		env = append(env, c.ShellFirst())
	}
	if c.agent.environment != nil {
		env = append(env, c.agent.environment(c.Home, c.Request.Model)...)
	}
	if c.agent.key != "" {
		address, key := c.Address()
		env = append(env, c.agent.key+"="+key, c.agent.address+"="+address)
	}
	return env
}

// run runs the agent for one turn.
func (c *conversation) run(ctx context.Context, t *turn) session.Turn {
	t.input = process.NewInput()
	t.begin()
	return c.Run(ctx, process.Command{
		Dir: c.Home.Path(workDir), Env: c.environment(), Input: t.input, Line: t.line, Silence: t.Silence, Working: t.working,
	}, nil)
}

// Ask runs one turn.
func (c *conversation) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	if err := c.Ready(prompt); err != nil {
		return engine.Result{}, err
	}
	t := c.turn(c.retold() + prompt)
	if t.first = c.before.Len() == 0; !t.first {
		t.Report(engine.ProgressAnew, "a new session of the agent")
	}
	run := c.run(ctx, t)
	if err := t.flush(); err != nil && run.Stopped == nil {
		run.Stopped = err
	}
	c.id = cmp.Or(c.id, t.id)
	fmt.Fprintf(&c.before, "\n## You were asked\n\n%s\n\n## You answered\n\n%s\n", prompt, t.Text())
	result := c.Settle(engine.Result{
		Text: t.Text(), SessionID: c.id, Model: c.Request.Model, Turns: t.steps + 1, Usage: t.usage, CostUSD: t.cost,
	}, run)
	if run.Refused() || !errors.Is(run.Stopped, errDone) || t.failure != nil || t.stop != stopEnd || strings.TrimSpace(result.Text) == "" {
		t.unasked = c.Gateway != nil && result.Usage.Total() == 0
		return result, c.failure(run, t)
	}
	return result, nil
}

// retold is what was said before, for the beginning of a prompt.
func (c *conversation) retold() string {
	if c.before.Len() == 0 {
		return ""
	}
	return "# What was said before in this session\n\nWhat tools showed is not repeated: read again what you need.\n" +
		c.before.String() + "\n# What you are asked now\n\n"
}

// failure is why a turn did not finish.
func (c *conversation) failure(run session.Turn, t *turn) error {
	switch {
	case run.Stopped != nil && !errors.Is(run.Stopped, errDone):
		return run.Stopped
	case run.Stopped == nil:
		return c.Kind.Crash(t.Transcript, run.Exit, run.Stderr, t.id != "")
	case t.failure != nil:
		return c.Failure(run, t.failure.class(), t.Detail(t.failure.text()))
	}
	return c.Failure(run, t.class(), t.Detail("the turn ended with "+string(t.stop)))
}

// text is an error's message and its data.
func (p *problem) text() string {
	if p.Data == nil {
		return p.Message
	}
	// Decoded data can always be encoded.
	data, _ := json.Marshal(p.Data)
	return p.Message + " " + string(data)
}
