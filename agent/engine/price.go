package engine

import (
	"strings"

	"touchstone/verdict"
)

// Price is what a million tokens of a model cost, in US dollars.
type Price struct {
	Input, CacheWrite, CacheRead, Output float64
}

// of gives what tokens cost at this price.
func (p Price) of(used verdict.Usage) float64 {
	const million = 1e6
	return (p.Input*float64(used.Input) + p.CacheWrite*float64(used.CacheWrite) +
		p.CacheRead*float64(used.CacheRead) + p.Output*float64(used.Output)) / million
}

// Prices are known by a model's name, or by the beginning of it.
type Prices map[string]Price

// Know reports whether one of the names is the model's, or the beginning of it.
func (p Prices) Know(model string) bool {
	for name := range p {
		if strings.HasPrefix(model, name) {
			return true
		}
	}
	return false
}

// dear is what a model of unknown price costs at least: as much as any of claude's.
var dear = Price{Input: 15, CacheWrite: 18.75, CacheRead: 1.5, Output: 75}

// Cost gives what a model's tokens cost. Of several names that the model's begins with
// the longest counts. A model that has none of them counts as the dearest there is, in the
// table or without one, so that a budget ends too early rather than too late.
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
