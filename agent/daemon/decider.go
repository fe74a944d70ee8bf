package daemon

import (
	"context"

	"touchstone/agent/forge"
	"touchstone/agent/merger"
	"touchstone/agent/pull"
	"touchstone/verdict/decide"
)

// Decider makes the decisions of one attempt to merge. What they take besides the pull request is read once: what
// depends on a head or a base is asked for by its commit, and so is read again when that changes.
func (a *Agent) Decider() merger.Decide {
	facts := &pull.Remembered{Read: knowledge{a.Read, a}, Answers: map[string]any{}}
	return func(ctx context.Context, pr forge.PullRequest) (action decide.Action, settled bool, err error) {
		facts.Asked = false
		_, action, err = a.decide(ctx, facts, pr, nil)
		return action, !facts.Asked, err
	}
}
