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

// errOff is why a model that is switched off is not asked, or no longer.
var errOff error = offError{}

type offError struct{}

func (offError) Error() string {
	return "it is switched off by engine.off in agent.yaml or by the relay's administrators"
}

func (offError) Is(target error) bool { return target == ErrResting }

// switchedOff follows the name of a model that is switched off.
const switchedOff = "is switched off"

// off reports whether a model or its engine is switched off. Case does not matter: Opus also switches off
// opus.
func off(s config.Engine, c Choice) bool {
	return slices.ContainsFunc(s.Off, func(name string) bool {
		kind, model := config.Choice(strings.ToLower(name))
		if kind != "" && kind != c.Engine {
			return false
		}
		return model == "" || has(strings.ToLower(c.Model), model)
	})
}

// has reports whether part switches off a model: it is the model's name, with or without a provider's name
// before it, or a part of it between dashes or slashes that is long enough to identify the model.
func has(model, part string) bool {
	if !event.IsModelPart(part) {
		return model == part || strings.HasSuffix(model, "/"+part)
	}
	dashed := func(name string) string { return "-" + strings.ReplaceAll(name, "/", "-") + "-" }
	return strings.Contains(dashed(model), dashed(part))
}

// names are the provider's names of the models that one session asks for. Settings use other names, or leave
// the choice to the CLI; a model can be switched off by either name.
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

// off reports whether one of the models is switched off. There are none before the session's first request.
func (n *names) off(s config.Engine) bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.all, func(c Choice) bool { return off(s, c) })
}

// asks returns the function that is called before each request of a session with one model: it records the
// model's name, for later sessions too, and refuses requests for a model that is switched off.
func (s *session) asks(c Choice, called *names) func(model string) error {
	return func(model string) error {
		real := Choice{c.Engine, model}
		if off(s.engine.Settings(), real) {
			// The session ends by this refusal, and not as one that was switched off while it ran.
			s.engine.keep(c, &names{all: []Choice{real}})
			return fmt.Errorf("%s was to ask for %s: %w", c, model, errOff)
		}
		called.add(real)
		s.engine.keep(c, called)
		return nil
	}
}

// keep stores which models the latest session of a choice asked for, so that no session is started only to
// find out that its model is switched off.
func (e *Engine) keep(c Choice, called *names) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.called == nil {
		e.called = map[Choice]*names{}
	}
	e.called[c] = called
}

// off reports whether a choice is switched off, by its own name or by the models that it asked for.
func (e *Engine) off(s config.Engine, c Choice) bool {
	e.mu.Lock()
	called := e.called[c]
	e.mu.Unlock()
	return off(s, c) || called.off(s)
}

// reason follows the name of a model that did not answer.
func reason(failure *engine.Error) string {
	if errors.Is(failure, errOff) {
		return switchedOff
	}
	return effects[failure.Class].reason
}
