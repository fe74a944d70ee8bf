package fallback_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/fallback"
)

// stage is where engines play their models' parts: how a turn with one ends. It keeps who was
// asked, and how many sessions are open.
type stage struct {
	mu    sync.Mutex
	parts map[string]func(ctx context.Context, req engine.Request) (engine.Result, error)
	asked []string
	open  int
}

// play has a model, as fallback.Choice calls it, end each turn like this.
func (s *stage) play(model string, part func(ctx context.Context, req engine.Request) (engine.Result, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[model] = part
}

// fail has a model fail each turn, after a second.
func (s *stage) fail(model string, class engine.Class, retryAfter time.Duration) {
	s.play(model, func(ctx context.Context, _ engine.Request) (engine.Result, error) {
		pass(ctx, time.Second)
		return engine.Result{Duration: time.Second, CostUSD: 0.25, Retries: 2},
			&engine.Error{Class: class, Message: "it was " + string(class), RetryAfter: retryAfter}
	})
}

// call has a model asked for by its provider's name, and answer where that may be.
func (s *stage) call(model, name string) {
	s.play(model, func(_ context.Context, req engine.Request) (engine.Result, error) {
		if err := req.Asks(name); err != nil {
			return engine.Result{Model: name}, &engine.Error{Class: engine.Cancelled, Message: err.Error(), Err: err}
		}
		return engine.Result{Text: "It is " + name + ".", Model: name, Duration: time.Second, CostUSD: 1}, nil
	})
}

// heal has a model answer again.
func (s *stage) heal(model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parts, model)
}

// heard gives who was asked since it was called last.
func (s *stage) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.asked = nil }()
	return strings.Join(s.asked, ", ")
}

func pass(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// kind is one engine on the stage. That named claude has claude's families.
type kind struct {
	*stage
	name string
}

func (k kind) Name() string { return k.name }

func (k kind) Probe(context.Context) (engine.Version, error) { return engine.Version{}, nil }

func (k kind) Open(_ context.Context, req engine.Request) (engine.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open++
	return &actor{k, req}, nil
}

type family struct{ kind }

func (family) Relatives(model string) []string { return (&claude.Engine{}).Relatives(model) }

type actor struct {
	kind
	req engine.Request
}

func (a *actor) Ask(ctx context.Context, _ string) (engine.Result, error) {
	name := fallback.Choice{Engine: a.name, Model: a.req.Model}.String()
	a.mu.Lock()
	a.asked = append(a.asked, name)
	part := a.parts[name]
	a.mu.Unlock()
	if part == nil {
		return engine.Result{Text: "It is " + name + ".", Duration: time.Second, CostUSD: 1}, nil
	}
	return part(ctx, a.req)
}

func (a *actor) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stage.open--
	return nil
}

// staged is an engine over a stage, with claude's defaults and these changes to them.
func staged(change func(*config.Engine)) (*stage, *fallback.Engine) {
	s := &stage{parts: map[string]func(context.Context, engine.Request) (engine.Result, error){}}
	settings := config.Default().Engine
	settings.Model = "opus"
	if change != nil {
		change(&settings)
	}
	return s, &fallback.Engine{
		Settings: func() config.Engine { return settings },
		New: func(name string) (engine.Engine, error) {
			switch k := (kind{s, name}); name {
			case "claude":
				return family{k}, nil
			case "codex":
				return k, nil
			}
			return nil, fmt.Errorf("there is no engine named %q", name)
		},
	}
}

// opened opens a session.
func opened(t *testing.T, e *fallback.Engine, req engine.Request) engine.Session {
	t.Helper()
	session, err := e.Open(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return session
}
