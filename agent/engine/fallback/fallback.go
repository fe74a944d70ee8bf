// Package fallback goes on with another model where one does not answer, and leaves alone for
// a while what did not.
//
// Only a failure of a provider or a login leads to another model. What the model makes of its
// task — that it declines, or outgrows its context, its time, its steps or its budget — and a
// program that crashes or falls silent over it end the session: the author of a change can
// influence that, and must not choose which model judges it.
//
// It owns the chain of models, their breakers and their providers' names for them, and stores
// nothing: a new process tries every model afresh.
package fallback

import (
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
)

// ErrResting says that no model may be asked now: each of those that could be is switched off
// or is left alone, since it did not answer. Nothing was started; or what was started was
// switched off while it was at work.
var ErrResting = errors.New("no model may be asked now")

// Engine holds sessions with the first model of a chain that answers. Its breakers are shared
// by all sessions; its fields are set once.
type Engine struct {
	// Settings gives those in force.
	Settings func() config.Engine
	// New gives the engine of a name.
	New func(name string) (engine.Engine, error)
	// Resting, if set, is told of all models that are left alone each time that changes, one
	// call after the other. It must not block, nor use this Engine.
	Resting func([]Rest)

	mu       sync.Mutex
	breakers map[string]*breaker
	// called are the provider's names for what was asked for last by each choice.
	called map[Choice]*names
}

var _ engine.Engine = (*Engine)(nil)

// Choice is one model of one engine; an empty model is the engine's own choice.
type Choice struct{ Engine, Model string }

// String is how people call it.
func (c Choice) String() string { return strings.TrimSpace(c.Engine + " " + c.Model) }

// relatives is an engine that knows which of its models may stand in for one of them: each
// fit to approve what that one would have judged.
type relatives interface {
	Relatives(model string) []string
}

// Chain is what is asked for a role, in this order, where a model is wanted that is named as
// in the settings. It is empty where all of that is switched off. The error names an engine
// that there is none of.
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
		// What others have chosen for all machines this one may not have.
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

// choose takes the name of a model as the settings mean it.
func choose(s config.Engine, name string) Choice {
	kind, model := config.Choice(name)
	if kind == "" {
		kind = s.Name
	}
	return Choice{kind, model}
}

// Name is the name of the engine that is asked first.
func (e *Engine) Name() string { return e.Settings().Name }

// Probe probes the engines that the settings name, and gives the version of the first that
// can be used. The error is why none can.
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
			zerolog.Ctx(ctx).Warn().Err(err).Str("engine", name).Msg("an engine to go on with cannot be used either")
		}
	}
	return engine.Version{}, failed
}

// Open begins a session with the first model of the chain that is not left alone.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	req, err := req.Bounded()
	if err != nil {
		return nil, failureOf(err)
	}
	settings := e.Settings()
	s := &session{engine: e, req: req, wanted: choose(settings, req.Model)}
	if s.chain, err = e.chain(settings, s.wanted, req.Role); err != nil {
		return nil, failureOf(err)
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

// failureOf gives a class to an error that has none.
func failureOf(err error) *engine.Error {
	var failure *engine.Error
	if errors.As(err, &failure) {
		return failure
	}
	return &engine.Error{Class: engine.Invalid, Message: err.Error(), Err: err}
}

// resting is the error where nothing of a chain may be asked.
func (e *Engine) resting(wanted Choice, chain []Choice) *engine.Error {
	if len(chain) == 0 {
		return &engine.Error{
			Class: engine.Invalid, Err: ErrResting, RetryAfter: rest,
			Message: fmt.Sprintf("%s and all that could stand in for it are switched off; engine.off in agent.yaml or by the relay's "+
				"administrators names too much", wanted),
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
		names = append(names, fmt.Sprintf("%s, which %s", c, reasons[why]))
	}
	wait := max(time.Until(soonest), time.Second)
	return &engine.Error{
		Class: class, Err: ErrResting, RetryAfter: wait,
		Message: fmt.Sprintf("nothing is asked for another %s of %s", wait.Round(time.Second), strings.Join(names, "; and of ")),
	}
}
