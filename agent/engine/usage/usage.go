// Package usage keeps the account of one session: what the provider's answers used, what that costs, and
// whether the session may continue. It reads the answers themselves, in each provider's API, so it counts in
// the same way for every CLI. It stores nothing but the sums.
package usage

import (
	"sync"

	"touchstone/agent/engine"
	"touchstone/verdict"
)

// Account is what a session has spent, and its bounds. It is safe for concurrent use.
type Account struct {
	prices engine.Prices
	req    engine.Request

	mu  sync.Mutex
	sum Sum
}

// Sum is what was spent up to some time.
type Sum struct {
	verdict.Usage
	// CostUSD is calculated from the price table; zero without one.
	CostUSD float64
	// Answers counts the provider's answers. Estimated counts those among them that did not report their
	// usage.
	Answers, Estimated int
	// Model is the model of the last answer, as the provider names it.
	Model string
}

// Since is what was spent since an earlier sum.
func (s Sum) Since(before Sum) Sum {
	return Sum{
		Usage: s.Minus(before.Usage), CostUSD: s.CostUSD - before.CostUSD, Answers: s.Answers - before.Answers,
		Estimated: s.Estimated - before.Estimated, Model: s.Model,
	}
}

// Open opens the account of a session.
func Open(req engine.Request, prices engine.Prices) *Account {
	return &Account{prices: prices, req: req}
}

// Sum is what was spent so far.
func (a *Account) Sum() Sum {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum
}

// Charge adds the usage of answers that were not read here, as reported by the CLI, in place of what was
// estimated for them.
func (a *Account) Charge(model string, used verdict.Usage, steps int, estimated Sum) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum.Model = model
	a.sum.Answers += steps
	a.sum.Estimated -= estimated.Estimated
	a.book(used.Minus(estimated.Usage), a.prices.Cost(model, used)-estimated.CostUSD)
}

func (a *Account) estimate(answer *Answer) {
	used := answer.estimated()
	cost := a.prices.Cost(answer.model, used)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum.Model = answer.model
	a.sum.Estimated++
	a.book(used.Minus(answer.used), cost-answer.cost)
}

func (a *Account) book(used verdict.Usage, cost float64) {
	a.sum.Usage = a.sum.Plus(used)
	a.sum.CostUSD += cost
}

// Exhausted says why the session may not send another request to its provider, with an error of class Budget
// or MaxTurns; nil if it may.
func (a *Account) Exhausted() *engine.Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch cost := a.sum.CostUSD + a.req.Shared().USD; {
	case a.req.Budget > 0 && cost >= a.req.Budget:
		return engine.Errorf(engine.Budget, "the session has cost $%.2f of its budget of $%.2f and was stopped; raise the budget, or give it "+
			"less to do", cost, a.req.Budget)
	case a.req.MaxTurns > 0 && a.sum.Answers >= a.req.MaxTurns:
		return engine.Errorf(engine.MaxTurns, "the session used up its %d turns and was stopped; allow it more, or give it less to do",
			a.req.MaxTurns)
	}
	return nil
}

// Barred says why the session's owner does not allow requests to a model; nil if they are allowed.
func (a *Account) Barred(model string) *engine.Error {
	if a.req.Asks == nil {
		return nil
	}
	if err := a.req.Asks(model); err != nil {
		return &engine.Error{Class: engine.Cancelled, Message: err.Error(), Err: err}
	}
	return nil
}

// Answer starts an answer of the provider, which is a step of the requested model. Argument asked is the size
// of the request in bytes. The answer is whole if it is one JSON object and not a stream of events.
func (a *Account) Answer(model string, asked int64, whole bool) *Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum.Answers++
	return &Answer{account: a, model: model, asked: asked, whole: whole}
}
