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
	said := result.Usage
	if said.Total() > 0 && (spent.Total() == 0 || spent.Estimated == spent.Answers) {
		// Only the CLI has seen the answers, or could read them.
		g.Account.Charge(result.Model, said, max(result.Turns-spent.Answers, 0), spent)
		spent = g.Account.Sum().Since(turn.before)
	}
	if spent.Answers > 0 {
		result.Usage = spent.Usage
		result.Model = cmp.Or(result.Model, spent.Model)
	}
	// A CLI that was stopped has not told the cost. And what its commands have asked the
	// provider, with the session's key, it does not know of.
	if result.CostUSD == 0 || spent.Total() > said.Total() {
		result.CostUSD = max(result.CostUSD, spent.CostUSD)
	}
	return result
}
