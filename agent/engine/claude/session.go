package claude

import (
	"context"
	"slices"
	"strconv"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// conversation is a session. The CLI keeps it in the session's home.
type conversation struct {
	*session.Gated
	engine *Engine
	args   []string
	// id is empty until a turn has produced something to continue from.
	id string
	// spent is the total cost of earlier turns, as the CLI reports it. paid is their actual cost, including
	// turns whose cost the CLI could not report.
	spent, paid float64
}

// Ask runs one turn.
func (c *conversation) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	if err := c.Ready(prompt); err != nil {
		return engine.Result{}, err
	}
	if c.Request.Budget > 0 && c.unspent() <= 0 {
		return engine.Result{}, kind.Failure(engine.Budget, "")
	}
	// A stored login may have been renewed since the last turn.
	login, err := c.engine.login(c.Left())
	if err != nil {
		return engine.Result{}, engine.Classified(err)
	}
	redact, address := login.redact, ""
	if c.Gateway != nil {
		redact = c.Redact
		address, login.secret = c.Address()
	}
	secret, inherit, err := login.handOver()
	if err != nil {
		return engine.Result{}, engine.Classified(err)
	}
	for _, pipe := range inherit {
		defer pipe.Close()
	}

	args := slices.Clone(c.args)
	if c.id != "" {
		args = append(args, "--resume", c.id)
	}
	args = append(args, c.budget()...)
	t := &turn{Transcript: session.NewTranscript(c.Request.Progress, redact), first: c.id == ""}
	if c.Gateway == nil {
		t.account = c.Account
	}
	run := c.Run(ctx, process.Command{
		Env: append(append(settings(c.Program, c.Home, address), commandTimeouts(c.Request.ToolTimeout)...), secret...), Inherit: inherit,
		Stdin: prompt, Line: t.line, Silence: t.Silence, Over: func() bool { return t.over },
	}, args)
	if t.answered {
		c.id = t.id
	}
	result := t.says()
	total := result.CostUSD // of all turns, as far as the CLI knows it
	result.CostUSD, c.spent = max(total-c.spent, 0), max(c.spent, total)
	result = c.Settle(result, run)
	c.paid += result.CostUSD
	if run.Stopped != nil {
		return result, t.stopped(run.Stopped)
	}
	return result, t.judge(run.Exit, run.Stderr, func(class engine.Class, detail string) *engine.Error {
		return c.Failure(run, class, detail)
	})
}

// budget makes the CLI stop when it has spent what is left of the budget, since it knows the prices of its
// models.
func (c *conversation) budget() []string {
	if c.Request.Budget == 0 {
		return nil
	}
	return []string{"--max-budget-usd", strconv.FormatFloat(c.unspent(), 'f', -1, 64)}
}

func (c *conversation) unspent() float64 { return c.Request.Budget - c.Request.Shared().USD - c.paid }
