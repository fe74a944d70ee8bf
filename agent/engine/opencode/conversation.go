package opencode

import (
	"context"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// conversation is a session. The CLI keeps it in the session's home.
type conversation struct {
	*session.Gated
	// id is empty until a turn has produced something to continue from.
	id string
}

// environment makes the CLI behave: it downloads nothing, and loads nothing that the checkout, the user or
// another CLI has configured.
func (c *conversation) environment() []string {
	_, key := c.Address()
	return []string{
		keyVariable + "=" + key,
		"OPENCODE_CONFIG=" + c.Home.Path(configFile),
		"XDG_CONFIG_HOME=" + c.Home.Path("config"),
		"XDG_DATA_HOME=" + c.Home.Path("data"),
		"XDG_STATE_HOME=" + c.Home.Path("state"),
		"XDG_CACHE_HOME=" + c.Home.Path("cache"),
		"OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_PROJECT_CONFIG=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		"OPENCODE_DISABLE_CLAUDE_CODE=1",
		"OPENCODE_DISABLE_EXTERNAL_SKILLS=1",
		"OPENCODE_DISABLE_TERMINAL_TITLE=1",
	}
}

// Ask runs one turn.
func (c *conversation) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	if err := c.Ready(prompt); err != nil {
		return engine.Result{}, err
	}
	// With a title of our own, the CLI does not ask a model for one.
	args := []string{"run", "--pure", "--format", "json", "--agent", agent, "--title", agent}
	if c.id != "" {
		args = append(args, "--session", c.id)
	}
	hidden, err := hideLinks(c.Request.Dir)
	if err != nil {
		return engine.Result{}, engine.Classified(err)
	}
	t := &turn{Transcript: session.NewTranscript(c.Request.Progress, c.Redact)}
	run := c.Run(ctx, process.Command{
		Dir: c.Home.Path(workDir), Env: c.environment(), Stdin: prompt, Line: t.line, Silence: t.Silence,
		// The CLI prints nothing about a command before that has ended.
		Working: func() bool { return true },
		Over:    t.over,
	}, args)
	if err := hidden.putBack(); err != nil {
		// The checkout is not restored, so nothing may be made from it.
		return c.Settle(engine.Result{Usage: t.usage, CostUSD: t.cost}, run), engine.Classified(err)
	}
	if t.steps > 0 {
		c.id = t.id
	}
	result := c.Settle(engine.Result{
		Text: t.Text(), SessionID: t.id, Model: c.Request.Model, Turns: t.steps, Usage: t.usage, CostUSD: t.cost,
	}, run)
	switch {
	case run.Stopped != nil:
		return result, run.Stopped
	case t.failure != nil:
		return result, c.Failure(run, t.failure.class(), t.Detail(t.failure.Data.Message))
	case t.reason == "":
		return result, kind.Crash(t.Transcript, run.Exit, run.Stderr, t.id != "")
	case t.reason != stopped:
		return result, c.Failure(run, engine.BadOutput, "the last step ended with "+t.Detail(t.reason))
	case strings.TrimSpace(result.Text) == "":
		return result, engine.Errorf(engine.BadOutput, "opencode ended the session without an answer")
	}
	return result, nil
}
