package session

import (
	"cmp"

	"touchstone/agent/engine"
)

// Settle completes the result of a turn, which has what the CLI reported: it adds the times, and what the
// turn used according to the account. The account also knows that if the CLI was stopped before it could
// report it.
func (g *Gated) Settle(result engine.Result, turn Turn) engine.Result {
	result.Engine = g.Kind.Name
	result.Started, result.Duration, result.FirstByte = turn.Started, turn.Duration, turn.FirstByte
	result.Retries += turn.provider.Retries()
	spent := g.Account.Sum().Since(turn.before)
	said := result.Usage
	if said.Total() > 0 && (spent.Total() == 0 || spent.Estimated == spent.Answers) {
		// Only the CLI saw the answers, or could read them.
		g.Account.Charge(result.Model, said, max(result.Turns-spent.Answers, 0), spent)
		spent = g.Account.Sum().Since(turn.before)
	}
	if spent.Answers > 0 {
		result.Usage = spent.Usage
		result.Model = cmp.Or(result.Model, spent.Model)
	}
	// A CLI that was stopped has not reported the cost. It also does not know about requests that its
	// commands sent with the session's key.
	if result.CostUSD == 0 || spent.Total() > said.Total() {
		result.CostUSD = max(result.CostUSD, spent.CostUSD)
	}
	return result
}
