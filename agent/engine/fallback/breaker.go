package fallback

import (
	"cmp"
	"context"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/telemetry"
)

const (
	// rest is how long a model that did not answer is not asked, before one session may try it.
	rest = 2 * time.Minute
	// longestRest bounds that time if a provider asks for more.
	longestRest = time.Hour
)

// effect is what a failure means for the model or engine that was asked.
type effect struct {
	// all says that the failure affects every model of the engine, since they share a program, a login and a
	// provider.
	all bool
	// strikes is how many such failures in a row open the breaker. The CLIs retry by themselves before they
	// report a failure, so only failures that may be momentary need two.
	strikes int
	// stays says that the session ends with this failure instead of trying another model, and that only
	// failures on different changes count: the text of one change could cause them.
	stays bool
	// reason follows the name of what did not answer.
	reason string
}

// effects are the failures that may be caused by a provider, a login or a program, or that another model may not have. All
// others end a session and say nothing about the model.
var effects = map[engine.Class]effect{
	engine.Missing:      {all: true, strikes: 1, reason: "is not installed"},
	engine.Auth:         {all: true, strikes: 1, reason: "has no login that its provider accepts"},
	engine.Billing:      {all: true, strikes: 1, reason: "has no credit left"},
	engine.Network:      {all: true, strikes: 2, reason: "could not reach its provider"},
	engine.UnknownModel: {strikes: 1, reason: "is not known to its provider"},
	engine.RateLimited:  {strikes: 1, reason: "has used up its quota for now"},
	engine.Overloaded:   {strikes: 1, reason: "is overloaded"},
	engine.Server:       {strikes: 2, reason: "failed at its provider"},
	engine.Idle:         {strikes: 2, stays: true, reason: "fell silent"},
	// Another model may accept longer prompts. The failure says nothing about the model.
	engine.PromptTooLarge: {reason: "accepts no prompt of this size"},
}

// breaker is the circuit breaker of one model, or of one engine. Its zero value is closed.
type breaker struct {
	strikes int
	// over is the directory of the change at the last strike.
	over string
	// open says that it was opened at since, for the reason why. From until on, one session may try; trying
	// is the session that does.
	open   bool
	since  time.Time
	until  time.Time
	trying *session
	why    engine.Class
}

// scope is what the i-th breaker of a model is for, as the metrics call it.
func (c Choice) scope(i int) string {
	if i == 0 {
		return "all"
	}
	return cmp.Or(c.Model, "default")
}

// of returns the breakers for a model: the engine's and its own. The caller holds the lock.
func (e *Engine) of(c Choice) [2]*breaker {
	var both [2]*breaker
	for i, key := range [2]string{c.Engine, c.Engine + ":" + c.Model} {
		if e.breakers[key] == nil {
			if e.breakers == nil {
				e.breakers = map[string]*breaker{}
			}
			e.breakers[key] = &breaker{}
		}
		both[i] = e.breakers[key]
	}
	return both
}

// until is when a model may be asked again, and why not now. The caller holds the lock.
func (e *Engine) until(c Choice) (at time.Time, why engine.Class) {
	for _, b := range e.of(c) {
		if b.open && b.until.After(at) {
			at, why = b.until, b.why
		}
	}
	return at, why
}

// admit reports whether a session may ask a model now. An admitted session must call settle.
func (e *Engine) admit(c Choice, s *session) (ok bool, why engine.Class) {
	e.mu.Lock()
	defer e.mu.Unlock()
	both, now := e.of(c), time.Now()
	for _, b := range both {
		if b.open && (b.trying != nil || now.Before(b.until)) {
			return false, b.why
		}
	}
	for _, b := range both {
		if b.open {
			b.trying = s
		}
	}
	return true, ""
}

// alive closes the breakers of a model at the first sign that it answers: the session may take long, and
// others need not wait for its end.
func (e *Engine) alive(ctx context.Context, c Choice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	again := false
	for i, b := range e.of(c) {
		if b.open {
			again = true
			telemetry.LeftAlone(c.Engine, c.scope(i), false)
			zerolog.Ctx(ctx).Info().Stringer("model", c).Msg("a model that was not used for a while answers again")
		}
		b.open, b.trying = false, nil
	}
	if again {
		e.report()
	}
}

// settle records the result of a session's request to a model; nil means that it answered.
func (e *Engine) settle(ctx context.Context, c Choice, s *session, err *engine.Error) {
	if err == nil {
		e.alive(ctx, c)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, b := range e.of(c) {
		if err == nil {
			b.strikes = 0
			continue
		}
		// If the session ended for another reason, it is still unknown whether the model would answer.
		if b.trying == s {
			b.trying = nil
		}
		what := effects[err.Class]
		if whole := i == 0; what.strikes == 0 || what.all != whole {
			continue
		}
		if what.stays && b.strikes > 0 && b.over == s.req.Dir {
			continue
		}
		b.over = s.req.Dir
		if b.strikes++; b.strikes < what.strikes {
			continue
		}
		pause, now := min(max(rest, err.RetryAfter), longestRest), time.Now()
		if !b.open {
			b.since = now
		}
		b.open, b.why = true, err.Class
		telemetry.LeftAlone(c.Engine, c.scope(i), true)
		if until := now.Add(pause); until.After(b.until) {
			b.until = until
		}
		e.report()
		zerolog.Ctx(ctx).Warn().Stringer("model", c).Bool("whole_engine", what.all).Str("class", string(err.Class)).Stringer("for", pause).
			Msg("a model is not used for a while, because it did not answer")
	}
}
