package fallback

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/relay/event"
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

// off reports whether a model or its engine is switched off. Case does not matter: Opus switches
// opus off too.
func off(s config.Engine, c Choice) bool {
	return slices.ContainsFunc(s.Off, func(name string) bool {
		kind, model := config.Choice(strings.ToLower(name))
		if kind != "" && kind != c.Engine {
			return false
		}
		return model == "" || has(strings.ToLower(c.Model), model)
	})
}

// has reports whether a model's name is another one, with or without a provider's before it, or
// has it as a part that stands between dashes or slashes and is long enough to mean that model.
func has(model, part string) bool {
	if !event.IsModelPart(part) {
		return model == part || strings.HasSuffix(model, "/"+part)
	}
	dashed := func(name string) string { return "-" + strings.ReplaceAll(name, "/", "-") + "-" }
	return strings.Contains(dashed(model), dashed(part))
}

// names are what a provider calls the models that one session asks for. Settings call them
// otherwise, or leave the choice to the CLI, and what is switched off is so by either name.
type names struct {
	mu  sync.Mutex
	all []Choice
}

// add adds a name.
func (n *names) add(c Choice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.all, c) {
		n.all = append(n.all, c)
	}
}

// off reports whether one of them is switched off. There are none before a session asks.
func (n *names) off(s config.Engine) bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.all, func(c Choice) bool { return off(s, c) })
}

// asks gives what is called with the requests of a session with one model: it keeps their names,
// for the sessions after it too, and refuses those for what is switched off.
func (s *session) asks(c Choice, called *names) func(model string) error {
	return func(model string) error {
		real := Choice{c.Engine, model}
		if off(s.engine.Settings(), real) {
			// It ends by this refusal, not as one that was switched off at work.
			s.engine.keep(c, &names{all: []Choice{real}})
			return fmt.Errorf("%s was to ask for %s: %w", c, model, errOff)
		}
		called.add(real)
		s.engine.keep(c, called)
		return nil
	}
}

// keep keeps what a choice turned out to be, by its latest session, so that none is started
// only to find out that it is switched off.
func (e *Engine) keep(c Choice, called *names) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.called == nil {
		e.called = map[Choice]*names{}
	}
	e.called[c] = called
}

// off reports whether a choice is switched off by its own name, or by what it turned out to be.
func (e *Engine) off(s config.Engine, c Choice) bool {
	e.mu.Lock()
	called := e.called[c]
	e.mu.Unlock()
	return off(s, c) || called.off(s)
}

// reason goes on after the name of a model that was asked in vain.
func reason(failure *engine.Error) string {
	if errors.Is(failure, errOff) {
		return switchedOff
	}
	return reasons[failure.Class]
}
