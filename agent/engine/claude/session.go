package claude

import (
	"context"
	"slices"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// conversation is a session; the CLI keeps it in the session's home.
type conversation struct {
	*session.Gated
	engine *Engine
	args   []string
	// id is empty until a turn has left something to go on from.
	id string
	// spent is the cost of the turns before, which the CLI adds up.
	spent float64
}

// Ask holds one turn.
func (c *conversation) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	if err := c.Ready(prompt); err != nil {
		return engine.Result{}, err
	}
	// A stored login may have been renewed since the turn before.
	login, err := c.engine.login(c.Left())
	if err != nil {
		return engine.Result{}, session.Unstarted(err)
	}
	redact, address := login.redact, ""
	if c.Gateway != nil {
		redact, address = c.Gateway.Redact, c.Gateway.URL
		login.secret = c.Gateway.Token
	}
	secret, inherit, err := login.handOver()
	if err != nil {
		return engine.Result{}, session.Unstarted(err)
	}
	defer closeAll(inherit)

	args := slices.Clone(c.args)
	if c.id != "" {
		args = append(args, "--resume", c.id)
	}
	t := &turn{Transcript: session.NewTranscript(c.Request.Progress, redact)}
	report, provider, err := c.Run(ctx, process.Command{
		Env: append(settings(c.Program, c.Home, address), secret...), Inherit: inherit,
		Stdin: prompt, Line: t.line, Silence: t.Silence,
	}, args)
	if t.answered {
		c.id = t.id
	}
	result, err := t.finish(report, err, func(class engine.Class, detail string) *engine.Error {
		return c.Failure(provider, class, detail)
	})
	c.account(&result)
	return result, err
}

// account leaves in the result what this turn alone has cost.
func (c *conversation) account(result *engine.Result) {
	total := result.CostUSD
	result.CostUSD = max(total-c.spent, 0)
	c.spent = max(c.spent, total)
}
