package engine

import (
	"strings"

	"touchstone/verdict"
)

// Price is the cost of a million tokens of a model, in US dollars.
type Price struct {
	Input, CacheWrite, CacheRead, Output float64
}

// of returns the cost of tokens at this price.
func (p Price) of(used verdict.Usage) float64 {
	const million = 1e6
	return (p.Input*float64(used.Input) + p.CacheWrite*float64(used.CacheWrite) +
		p.CacheRead*float64(used.CacheRead) + p.Output*float64(used.Output)) / million
}

// Prices are looked up by a model's name, or by the beginning of it.
type Prices map[string]Price

// Know reports whether one of the names is the model's name or the beginning of it.
func (p Prices) Know(model string) bool {
	for name := range p {
		if strings.HasPrefix(model, name) {
			return true
		}
	}
	return false
}

// dear is the least that a model of unknown price is assumed to cost: the price of claude's most expensive
// model.
var dear = Price{Input: 15, CacheWrite: 18.75, CacheRead: 1.5, Output: 75}

// Cost returns the cost of a model's tokens. If several names match the beginning of the model's name, the
// longest one counts. A model without a match counts as the most expensive one, in the table or dear, so that
// a budget ends too early rather than too late.
func (p Prices) Cost(model string, used verdict.Usage) float64 {
	found, dearest := "", dear.of(used)
	for name, price := range p {
		if strings.HasPrefix(model, name) && len(name) > len(found) {
			found = name
		}
		dearest = max(dearest, price.of(used))
	}
	if found != "" {
		return p[found].of(used)
	}
	return dearest
}
