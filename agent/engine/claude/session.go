package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
)

// session is a conversation that the CLI keeps in the session's home.
type session struct {
	engine *Engine
	req    engine.Request
	args   []string
	home   string
	// left is what remains of the time for all turns.
	left time.Duration
	// id is empty until a turn has left something to go on from.
	id string
	// spent is the cost of the turns before, which the CLI adds up.
	spent float64
}

// Ask holds one turn.
func (s *session) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	if err := s.ready(prompt); err != nil {
		return engine.Result{}, unstarted(err)
	}
	login, err := s.engine.login(s.left)
	if err != nil {
		return engine.Result{}, unstarted(err)
	}
	secret, inherit, err := login.handOver()
	if err != nil {
		return engine.Result{}, unstarted(err)
	}
	defer closeAll(inherit)

	args := append(s.engine.command(), s.args...)
	if s.id != "" {
		args = append(args, "--resume", s.id)
	}
	t := &turn{progress: s.req.Progress, started: time.Now(), secret: login.secret}
	report, err := process.Command{
		Args: args, Dir: s.req.Dir,
		Env: append(s.engine.environment(s.home), secret...), Inherit: inherit,
		Stdin: prompt, Timeout: s.left, IdleTimeout: s.req.IdleTimeout,
		Line: t.line, Silence: t.silence,
	}.Run(ctx)
	s.left -= report.Duration
	if t.answered {
		s.id = t.id
	}
	result, err := t.finish(report, err)
	s.account(&result)
	return result, err
}

// ready says why there can be no turn, or not with this prompt.
func (s *session) ready(prompt string) error {
	if s.home == "" {
		return errors.New("the session is closed")
	}
	if s.left <= 0 {
		return engine.Errorf(engine.Timeout, "the session's %s are used up", s.req.Timeout)
	}
	return engine.CheckPrompt(prompt)
}

// account leaves in the result what this turn alone has cost.
func (s *session) account(result *engine.Result) {
	total := result.CostUSD
	result.CostUSD = max(total-s.spent, 0)
	s.spent = max(s.spent, total)
}

// Close removes the session's home.
func (s *session) Close() error {
	home := s.home
	s.home = ""
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("remove the session's home: %w", err)
	}
	return nil
}
