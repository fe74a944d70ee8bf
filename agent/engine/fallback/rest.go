package fallback

import (
	"maps"
	"slices"
	"strings"

	"touchstone/agent/journal"
)

// report reports the models that are left alone, ordered by name. The caller holds the lock.
func (e *Engine) report() {
	if e.Resting == nil {
		return
	}
	resting := []journal.Rest{}
	for _, key := range slices.Sorted(maps.Keys(e.breakers)) {
		b := e.breakers[key]
		if !b.open {
			continue
		}
		name, model, one := strings.Cut(key, ":")
		called := "every model of " + name
		if one {
			called = Choice{name, model}.String()
		}
		resting = append(resting, journal.Rest{Model: called, Why: effects[b.why].reason, Since: b.since, Until: b.until})
	}
	e.Resting(resting)
}
