package failback

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"touchstone/agent/config"
	"touchstone/agent/engine"
)

// errOff is why a model is not asked, or no longer, that is switched off.
var errOff error = offError{}

type offError struct{}

func (offError) Error() string {
	return "it is switched off by engine.off in agent.yaml or by the relay's administrators"
}

func (offError) Is(target error) bool { return target == ErrResting }

// switchedOff goes on after the name of what is.
const switchedOff = "is switched off"

// off reports whether something is switched off. A part of a model's name that stands
// between dashes or slashes switches off all models that have it.
func off(s config.Engine, c Choice) bool {
	dashed := func(model string) string { return "-" + strings.ReplaceAll(model, "/", "-") + "-" }
	return slices.ContainsFunc(s.Off, func(name string) bool {
		kind, model := config.Choice(name)
		if kind != "" && kind != c.Engine {
			return false
		}
		return model == "" || strings.Contains(dashed(c.Model), dashed(model))
	})
}

// names are what a provider calls the models that one session asks for. Settings call them
// otherwise, or leave the choice to the CLI, and what is switched off is so by either name.
type names struct {
	mu  sync.Mutex
	all []Choice
}

// off reports whether one of them is switched off.
func (n *names) off(s config.Engine) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.all, func(c Choice) bool { return off(s, c) })
}

// asks gives what a session with one model is to hear of its requests: it refuses those for
// what is switched off, and keeps the others' names.
func (s *session) asks(c Choice, called *names) func(model string) error {
	return func(model string) error {
		real := Choice{c.Engine, model}
		if off(s.engine.Settings(), real) {
			return fmt.Errorf("%s was to ask for %s: %w", c, model, errOff)
		}
		called.mu.Lock()
		defer called.mu.Unlock()
		if !slices.Contains(called.all, real) {
			called.all = append(called.all, real)
		}
		return nil
	}
}

// reason goes on after the name of a model that was asked in vain.
func reason(failure *engine.Error) string {
	if errors.Is(failure, errOff) {
		return switchedOff
	}
	return reasons[failure.Class]
}
