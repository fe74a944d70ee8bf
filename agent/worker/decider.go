package worker

import (
	"context"
	"errors"

	"touchstone/agent/forge"
	"touchstone/agent/merger"
	"touchstone/agent/pull"
	"touchstone/verdict/decide"
)

// Decider makes the decisions of one attempt to merge. What they need besides the pull request is read once.
// Facts that depend on a head or a base are looked up by its commit, so they are read again when it changes.
func (a *Agent) Decider() merger.Decide {
	facts := &pull.Remembered{Read: knowledge{a.Read, a}, Answers: map[string]any{}}
	return func(ctx context.Context, pr forge.PullRequest) (action decide.Action, settled bool, err error) {
		facts.Asked = false
		f, action, err := a.decide(ctx, facts, pr, nil)
		return action, !facts.Asked, errors.Join(err, a.remember(ctx, pr, f))
	}
}
