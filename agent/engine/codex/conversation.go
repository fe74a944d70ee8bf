package codex

import (
	"context"
	"slices"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// conversation is a session. The CLI keeps it in the session's home.
type conversation struct {
	*session.Gated
	// id is empty until a turn has produced something to continue from.
	id string
	// used is the usage of earlier turns, which the CLI adds up.
	used verdict.Usage
}

// Ask runs one turn.
func (c *conversation) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	if err := c.Ready(prompt); err != nil {
		return engine.Result{}, err
	}
	// With --strict-config, a version that no longer knows a setting fails instead of ignoring it.
	args := []string{"exec", "--json", "--strict-config", "--skip-git-repo-check"}
	if c.id != "" {
		args = append(args, "resume", c.id)
	}
	_, key := c.Address()
	t := &turn{Transcript: session.NewTranscript(c.Request.Progress, c.Redact)}
	run := c.Run(ctx, process.Command{
		Env:   []string{"CODEX_HOME=" + c.Home.Path(configDir), keyVariable + "=" + key},
		Stdin: prompt, Line: t.line, Silence: t.Silence, Working: t.working,
		Over: func() bool { return t.completed || t.failed },
	}, append(args, "-"))
	if t.answered {
		c.id = t.id
	}
	result := c.Settle(engine.Result{
		Text: t.Text(), SessionID: t.id, Model: c.Request.Model, Turns: t.steps, Usage: c.account(t.usage),
	}, run)
	switch {
	case run.Stopped != nil:
		return result, run.Stopped
	case t.failed:
		return result, c.Failure(run, classOf(t.failure), t.Detail(t.failure))
	case !t.completed:
		return result, kind.Crash(t.Transcript, run.Exit, run.Stderr, t.id != "")
	case strings.TrimSpace(result.Text) == "":
		return result, engine.Errorf(engine.BadOutput, "codex ended the session without an answer")
	}
	return result, nil
}

// account returns the usage of this turn alone.
func (c *conversation) account(total verdict.Usage) verdict.Usage {
	before := c.used
	c.used = before.Max(total)
	return c.used.Minus(before)
}

// phrases are parts of the CLI's messages about failures, for which it has no codes.
var phrases = []struct {
	class engine.Class
	words []string
}{
	{engine.ContextOverflow, []string{"ran out of room", "context window"}},
	{engine.Refusal, []string{"content_filter"}},
	{engine.BadOutput, []string{"max_output_tokens"}},
	{engine.Billing, []string{"quota exceeded"}},
	{engine.Auth, []string{"status 401", "status 403"}},
	{engine.UnknownModel, []string{"status 404", "does not exist or you do not have access"}},
	{engine.RateLimited, []string{"429", "usage limit", "rate limit"}},
	{engine.Overloaded, []string{"at capacity", "status 503"}},
	{engine.Server, []string{"high demand", "status 5", "server had an error"}},
	{engine.Network, []string{"stream disconnected", "error sending request", "idle timeout", "connection failed"}},
}

// classOf reads the class from the CLI's message about a failure.
func classOf(message string) engine.Class {
	message = strings.ToLower(message)
	for _, p := range phrases {
		if slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(message, w) }) {
			return p.class
		}
	}
	return engine.BadOutput
}
