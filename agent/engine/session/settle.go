package session

import (
	"cmp"

	"touchstone/agent/engine"
)

// Settle completes the result of a turn, of which the CLI has said what is in there:
// with the times, and with what the turn has used by the account, which knows it also
// when the CLI was stopped before it could tell.
func (g *Gated) Settle(result engine.Result, turn Turn) engine.Result {
	result.Engine = g.Kind.Name
	result.Started, result.Duration, result.FirstByte = turn.Started, turn.Duration, turn.FirstByte
	result.Retries += turn.provider.Retries()
	spent := g.Account.Sum().Since(turn.before)
	if spent.Answers == 0 && result.Usage != (engine.Usage{}) {
		// Only the CLI has seen the answers.
		g.Account.Charge(result.Model, result.Usage, result.Turns)
		spent = g.Account.Sum().Since(turn.before)
	}
	if spent.Answers > 0 {
		result.Usage = spent.Usage
		result.Model = cmp.Or(result.Model, spent.Model)
	}
	if result.CostUSD == 0 {
		result.CostUSD = spent.CostUSD
	}
	return result
}
