// Package fallback switches to another model when one does not answer, and does not ask that one for a while.
//
// Only a failure of a provider or a login leads to another model. Other failures end the session: the model
// declines, exceeds its context, its time, its steps or its budget, or the program crashes or falls silent.
// The author of a change can cause these, and must not be able to choose which model judges the change.
//
// The package owns the chain of models, their breakers and their providers' names for them. It stores
// nothing: a new process tries every model again.
package fallback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/journal"
)

// ErrResting says that no model may be asked now: each one is switched off, or did not answer and is left
// alone for a while. Nothing was started, or what was started was switched off while it ran.
var ErrResting = errors.New("no model can be used now")

// Engine runs sessions with the first model of a chain that answers. All sessions share its breakers. Its
// fields are set once.
type Engine struct {
	// Settings returns the present settings.
	Settings func() config.Engine
	// New returns the engine of a name.
	New func(name string) (engine.Engine, error)
	// Resting, if set, is called with all models that are left alone, each time that changes, one call at a
	// time. It must not block, nor use this Engine.
	Resting func([]journal.Rest)

	mu       sync.Mutex
	breakers map[string]*breaker
	// called holds, for each choice, the provider's names of the models that its latest session asked for.
	called map[Choice]*names
}

var _ engine.Engine = (*Engine)(nil)

// Choice is one model of one engine. An empty model is the engine's own choice.
type Choice struct{ Engine, Model string }

// String is its name for people.
func (c Choice) String() string { return strings.TrimSpace(c.Engine + " " + c.Model) }

// relatives is an engine that knows which of its models may replace another one: each must be good enough to
// approve what that one would have judged.
type relatives interface {
	Relatives(model string) []string
}

// Chain is the list of models, in order, that are tried for a role when a model is requested by its name in
// the settings. It is empty if all of them are switched off. The error names an unknown engine.
func (e *Engine) Chain(model string, role engine.Role) ([]Choice, error) {
	settings := e.Settings()
	return e.chain(settings, choose(settings, model), role)
}

func (e *Engine) chain(s config.Engine, wanted Choice, role engine.Role) ([]Choice, error) {
	chain := []Choice{wanted}
	for _, name := range s.Fallback {
		chain = append(chain, choose(s, name))
	}
	if len(s.Fallback) == 0 {
		kind, err := e.New(wanted.Engine)
		if err != nil {
			return nil, err
		}
		if family, ok := kind.(relatives); ok {
			for _, model := range family.Relatives(wanted.Model) {
				chain = append(chain, Choice{wanted.Engine, model})
			}
		}
	}
	if s.Own != nil {
		// This machine may not have what an administrator chose for all machines.
		task := config.ReviewFull
		if role == engine.Author {
			task = config.Fix
		}
		chain = append(chain, choose(*s.Own, s.Own.ModelFor(task)))
	}
	var out []Choice
	for _, c := range chain {
		if !slices.Contains(out, c) && !e.off(s, c) {
			out = append(out, c)
		}
	}
	return out, nil
}

// choose interprets the name of a model in the settings.
func choose(s config.Engine, name string) Choice {
	kind, model := config.Choice(name)
	return Choice{cmp.Or(kind, s.Name), model}
}

// Name is the name of the engine that is tried first.
func (e *Engine) Name() string { return e.Settings().Name }

// Probe probes the engines in the settings, and returns the version of the first one that can be used. The
// error says why none can.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	var failed error
	for _, name := range e.Settings().Engines() {
		kind, err := e.New(name)
		if err != nil {
			return engine.Version{}, err
		}
		version, err := kind.Probe(ctx)
		if err == nil {
			return version, nil
		}
		if failed == nil {
			failed = err
		} else {
			zerolog.Ctx(ctx).Warn().Err(err).Str("engine", name).Msg("a fallback engine cannot be used either")
		}
	}
	return engine.Version{}, failed
}

// Open starts a session with the first model of the chain that may be asked.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	req, err := req.Bounded()
	if err != nil {
		return nil, engine.Classified(err)
	}
	settings := e.Settings()
	s := &session{engine: e, req: req, wanted: choose(settings, req.Model)}
	if s.chain, err = e.chain(settings, s.wanted, req.Role); err != nil {
		return nil, engine.Classified(err)
	}
	chain := s.chain
	if len(chain) == 0 || chain[0] != s.wanted {
		s.why = switchedOff
	}
	if failed := s.advance(ctx, req); failed != nil {
		return nil, failed
	}
	if s.inner == nil {
		return nil, e.resting(s.wanted, chain)
	}
	return s, nil
}

// untilAsked is the time until a model may be asked again.
func (e *Engine) untilAsked(c Choice) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, _ := e.until(c)
	return max(time.Until(at), time.Second)
}

// resting is the error if no model of a chain may be asked.
func (e *Engine) resting(wanted Choice, chain []Choice) *engine.Error {
	if len(chain) == 0 {
		return &engine.Error{
			Class: engine.Invalid, Err: ErrResting, RetryAfter: rest,
			Message: fmt.Sprintf("%s and all its fallbacks are switched off by engine.off, in agent.yaml or by the relay's "+
				"administrators; switch one of them on", wanted),
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var soonest time.Time
	var names []string
	class := engine.Overloaded
	for i, c := range chain {
		at, why := e.until(c)
		if i == 0 || at.Before(soonest) {
			soonest, class = at, why
		}
		names = append(names, fmt.Sprintf("%s, which %s", c, effects[why].reason))
	}
	wait := max(time.Until(soonest), time.Second)
	return &engine.Error{
		Class: class, Err: ErrResting, RetryAfter: wait,
		Message: fmt.Sprintf("for another %s there will be no requests to %s", wait.Round(time.Second), strings.Join(names, "; or to ")),
	}
}
