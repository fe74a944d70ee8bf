package fallback

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Rest is a model that is left alone because it did not answer.
type Rest struct {
	// Model is its name for people, such as "claude opus", or "every model of claude".
	Model string
	// Why follows the name, such as "is overloaded".
	Why string
	// From Until on, one session may try whether it answers again. Since is when it first did not.
	Since, Until time.Time
}

// report reports the models that are left alone, ordered by name. The caller holds the lock.
func (e *Engine) report() {
	if e.Resting == nil {
		return
	}
	resting := []Rest{}
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
		resting = append(resting, Rest{Model: called, Why: effects[b.why].reason, Since: b.since, Until: b.until})
	}
	e.Resting(resting)
}
