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

	"touchstone/agent/engine"
)

const (
	// leastTime is how much of a session's time must be left to start another model.
	leastTime = 2 * time.Minute
	// lookEvery is the interval between two checks whether a running model was switched off.
	lookEvery = time.Second
)

// session is a session with the models of a chain, one after the other, until one has answered. From then on
// it stays with that model, since only that model knows the conversation.
type session struct {
	engine *Engine
	req    engine.Request
	wanted Choice
	// chain are the models that are left to try. failed are those that were tried, with the reason why they
	// did not answer. why is that reason for the wanted model, tried or not.
	chain  []Choice
	failed []string
	why    string
	// missed is the last failure of a model that did not answer for another reason than the prompt's size, or was not
	// asked for one.
	missed *engine.Error

	at    Choice
	inner engine.Session
	// spent sums the figures of all turns so far, of all models.
	spent engine.Result
	// called are the provider's names of the models that inner asks for. silent are the real models that did
	// not answer, where the choice's own name does not tell them, such as an engine's own choice.
	called *names
	silent []Choice
	// alive tells the breaker about the first sign of an answer in a turn.
	alive func()
	// settled says that the breaker knows the result of the request. worked says that the model has used a
	// tool, answered that it has finished a turn.
	settled, worked, answered bool
}

// Ask runs one turn. Its result sums the figures of all models that were asked in it.
func (s *session) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	var sum engine.Result
	for {
		s.alive = func() { s.engine.alive(ctx, s.at) }
		result, err := s.whileOn(ctx, prompt)
		sum = s.added(sum, result)
		s.spent = s.added(s.spent, result)
		if err == nil {
			s.settle(ctx, nil)
			s.answered = true
			return sum, nil
		}
		failure := engine.Classified(err)
		s.settle(ctx, s.blame(failure))
		if err := s.goOn(ctx, failure, sum); err != nil {
			return sum, err
		}
	}
}

// whileOn asks the present model, and stops it when it is switched off.
func (s *session) whileOn(ctx context.Context, prompt string) (engine.Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if settings := s.engine.Settings(); off(settings, s.at) || s.called.off(settings) {
					stop(errOff)
				}
			}
		}
	})
	result, err := s.inner.Ask(ctx, prompt)
	stop(nil)
	watch.Wait()
	if err != nil && errors.Is(context.Cause(ctx), errOff) {
		err = &engine.Error{
			Class: engine.Cancelled, Err: ErrResting,
			Message: fmt.Sprintf("%s was switched off during its session; its fallback is used next", s.at),
		}
	}
	return result, err
}

// added adds a result to the sum, and says which model answered.
func (s *session) added(sum, r engine.Result) engine.Result {
	r.Add(sum)
	if !sum.Started.IsZero() {
		r.Started = sum.Started
	}
	r.Engine = cmp.Or(r.Engine, s.at.Engine)
	if s.at != s.wanted {
		r.Switched = fmt.Sprintf("%s was requested but %s; %s answered instead", s.wanted, s.why, s.at)
	}
	return r
}

// commanded says that the session may have run commands of the code that it works on.
func (s *session) commanded() bool { return s.worked && s.req.Role == engine.Author }

// blame is a failure as it counts for other sessions. Commands can send requests to the provider in the
// session's name, for instance for a model that does not exist. Without this, one change could block a model
// for all.
func (s *session) blame(failure *engine.Error) *engine.Error {
	if s.commanded() {
		return engine.Errorf(engine.Cancelled, "what a session's commands may have caused does not count for other sessions")
	}
	return failure
}

// goOn opens a session with the next model after a failure. The error says why the turn ends.
func (s *session) goOn(ctx context.Context, failure *engine.Error, spent engine.Result) error {
	// Another model must not continue a session's unfinished edits: the result would be the work of neither.
	bound := s.answered || s.commanded()
	what, elsewhere := effects[failure.Class]
	elsewhere = elsewhere || errors.Is(failure, errOff)
	if !elsewhere || what.stays || bound || ctx.Err() != nil {
		return s.ended(failure)
	}
	if what.all {
		s.chain = slices.DeleteFunc(s.chain, func(c Choice) bool { return c.Engine == s.at.Engine })
	}
	req, enough := left(s.req, s.spent)
	if !enough {
		short := *failure
		short.Message += "; too little is left of the session's time or budget to ask another model"
		return s.ended(&short)
	}
	asked, silent := s.inner, s.at
	s.note(silent, reason(failure))
	s.miss(failure)
	if spent.Model != "" && !has(spent.Model, silent.Model) {
		s.silent = append(s.silent, Choice{silent.Engine, spent.Model})
	}
	err := s.advance(ctx, req)
	if err == nil && s.inner == asked {
		return s.ended(failure)
	}
	s.failed = append(s.failed, fmt.Sprintf("%s %s", silent, reason(failure)))
	if err != nil {
		return s.ended(err)
	}
	if err := asked.Close(); err != nil {
		// The turn goes on despite the leftovers.
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot clean up the session")
	}
	return nil
}

// advance opens a session with the next model that may be asked, in place of the present one. If there is
// none, the present one stays.
func (s *session) advance(ctx context.Context, req engine.Request) *engine.Error {
	var failed *engine.Error
	for len(s.chain) > 0 {
		next := s.chain[0]
		s.chain = s.chain[1:]
		if s.asked(next) {
			continue
		}
		if ok, why := s.engine.admit(next, s); !ok {
			s.note(next, effects[why].reason)
			s.miss(&engine.Error{Class: why, RetryAfter: s.engine.untilAsked(next)})
			continue
		}
		inner, err := s.open(ctx, next, req)
		if err == nil {
			if s.inner != nil || next != s.wanted {
				zerolog.Ctx(ctx).Warn().Stringer("model", next).Str("because",
					fmt.Sprintf("%s %s", s.wanted, s.why)).Msg("the session continues with another model")
			}
			if s.inner != nil && req.Progress != nil {
				req.Progress(engine.Progress{Kind: engine.ProgressSwitch, Text: next.String(), Used: s.spent.Usage, CostUSD: s.spent.CostUSD})
			}
			s.inner, s.at, s.settled = inner, next, false
			return nil
		}
		failed = engine.Classified(err)
		s.engine.settle(ctx, next, s, failed)
		if _, elsewhere := effects[failed.Class]; !elsewhere {
			return failed
		}
		s.note(next, reason(failed))
		s.miss(failed)
	}
	return failed
}

// miss remembers a failure that says nothing about the prompt's size.
func (s *session) miss(failure *engine.Error) {
	if failure.Class != engine.PromptTooLarge {
		s.missed = failure
	}
}

// asked reports whether a choice is a model that has not answered under another name.
func (s *session) asked(c Choice) bool {
	return c.Model != "" && slices.ContainsFunc(s.silent, func(real Choice) bool {
		return real.Engine == c.Engine && has(real.Model, c.Model)
	})
}

// open opens a session with one model.
func (s *session) open(ctx context.Context, c Choice, req engine.Request) (engine.Session, error) {
	kind, err := s.engine.New(c.Engine)
	if err != nil {
		return nil, err
	}
	tell, earlier := req.Progress, s.spent
	s.called = &names{}
	req.Model, req.Asks = c.Model, s.asks(c, s.called)
	req.Progress = func(p engine.Progress) {
		switch p.Kind {
		case engine.ProgressTool, engine.ProgressText, engine.ProgressDimension:
			s.worked = s.worked || p.Kind == engine.ProgressTool
			if s.alive != nil {
				s.alive()
				s.alive = nil
			}
		}
		if tell != nil {
			// The model knows only what it has used itself.
			p.Used, p.CostUSD = p.Used.Plus(earlier.Usage), p.CostUSD+earlier.CostUSD
			tell(p)
		}
	}
	return kind.Open(ctx, req)
}

// note records why the wanted model is not used.
func (s *session) note(c Choice, why string) {
	if c == s.wanted {
		s.why = why
	}
}

func (s *session) settle(ctx context.Context, failure *engine.Error) {
	s.engine.settle(ctx, s.at, s, failure)
	s.settled = true
}

// ended is the failure that ends a turn, together with earlier ones.
func (s *session) ended(failure *engine.Error) *engine.Error {
	if failure.Class == engine.PromptTooLarge && s.missed != nil {
		// A model that did not answer may accept the prompt later, so another attempt is no waste.
		later := *failure
		later.Class, later.RetryAfter = s.missed.Class, s.missed.RetryAfter
		if len(s.failed) == 0 {
			later.Message = fmt.Sprintf("%s %s; then %s", s.wanted, s.why, later.Message)
		}
		failure = &later
	}
	if len(s.failed) == 0 {
		return failure
	}
	return &engine.Error{
		Class: failure.Class, RetryAfter: failure.RetryAfter, Err: failure,
		Message: fmt.Sprintf("%s; then %s", strings.Join(s.failed, "; "), failure.Message),
	}
}

// Close removes everything that the session stored.
func (s *session) Close() error {
	if !s.settled {
		s.engine.settle(context.Background(), s.at, s, engine.Errorf(engine.Cancelled, "nothing was asked"))
	}
	return s.inner.Close()
}

// left is what a session may still spend, and whether that is enough to start another model.
func left(req engine.Request, spent engine.Result) (rest engine.Request, enough bool) {
	rest = req
	rest.Timeout -= spent.Duration
	enough = rest.Timeout >= min(leastTime, req.Timeout/2)
	if req.Budget > 0 {
		rest.Budget -= spent.CostUSD
		enough = enough && rest.Budget >= req.Budget/2
	}
	if req.MaxTurns > 0 {
		rest.MaxTurns -= spent.Turns
		enough = enough && rest.MaxTurns > 0
	}
	return rest, enough
}
