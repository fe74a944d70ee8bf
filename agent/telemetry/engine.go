package telemetry

import (
	"cmp"
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"touchstone/agent/engine"
	"touchstone/agent/journal"
)

// Engine is an engine whose turns are counted.
type Engine struct {
	engine.Engine
}

// Open opens a session whose turns are counted.
func (e Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	s := &session{engine: e.Name(), asked: req.Model, role: string(req.Role)}
	tell := req.Progress
	req.Progress = func(p engine.Progress) {
		s.progress(p)
		if tell != nil {
			tell(p)
		}
	}
	inner, err := e.Engine.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	s.Session = inner
	return s, nil
}

// session counts the turns of another. What happens in a turn is told while it is asked, by one goroutine at a time.
type session struct {
	engine.Session
	engine, asked, role string
	// turnCtx is the context of the turn under way, with its span; tool, if there is one, is its present call.
	turnCtx context.Context
	tool    trace.Span
	// worked says that the model wrote something or called a tool in it.
	worked bool
	// counted is what the turns that have ended took.
	counted journal.Account
}

// Ask runs a turn and counts it, also if it fails.
func (s *session) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	ctx, span := tracer.Start(ctx, strings.TrimSpace("chat "+s.asked), trace.WithSpanKind(trace.SpanKindClient))
	s.turnCtx, s.worked = ctx, false
	result, err := s.Session.Ask(ctx, prompt)
	s.toolEnded()
	turn := journal.Account{
		Turns: 1, Retries: result.Retries, Usage: result.Usage, CostUSD: result.CostUSD, Duration: result.Duration, FirstByte: result.FirstByte,
		Engine: cmp.Or(result.Engine, s.engine), Model: bounded(cmp.Or(result.Model, s.asked)),
	}
	s.counted.Add(turn)
	if act, ok := ctx.Value(actKey{}).(*Act); ok {
		act.count(s, turn)
	}
	observe(turn, s.role, outcome(err))
	span.SetAttributes(described(turn, s.role)...)
	end(span, err)
	return result, err
}

// described gives a turn the names of https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/, as far as it
// has some. The input there includes what the cache held.
func described(turn journal.Account, role string) []attribute.KeyValue {
	u := turn.Usage
	return []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.response.model", turn.Model),
		attribute.Int64("gen_ai.usage.input_tokens", u.Input+u.CacheWrite+u.CacheRead),
		attribute.Int64("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", u.CacheRead),
		attribute.Int64("gen_ai.usage.output_tokens", u.Output),
		attribute.String("touchstone.engine", turn.Engine),
		attribute.String("touchstone.role", role),
		attribute.Float64("touchstone.cost_usd", turn.CostUSD),
		attribute.Float64("touchstone.first_byte_seconds", turn.FirstByte.Seconds()),
		attribute.Int("touchstone.retries", turn.Retries),
	}
}

// progress counts what the turn under way has taken, and makes a span of each tool call. The CLIs tell when one
// begins; it ends, at the latest, when the next thing happens.
func (s *session) progress(p engine.Progress) {
	if s.turnCtx == nil {
		return
	}
	switch p.Kind {
	case engine.ProgressText, engine.ProgressTool, engine.ProgressDimension:
		s.worked = true
	}
	if act, ok := s.turnCtx.Value(actKey{}).(*Act); ok {
		act.update(s, journal.Account{
			Turns: 1, Usage: p.Used.Minus(s.counted.Usage), CostUSD: max(0, p.CostUSD-s.counted.CostUSD), Duration: p.Elapsed,
			Engine: s.engine, Model: bounded(s.asked),
		})
	}
	if p.Kind == engine.ProgressHeartbeat || p.Kind == engine.ProgressRaw {
		return
	}
	s.toolEnded()
	if p.Kind == engine.ProgressTool {
		name, _, _ := strings.Cut(p.Text, " ")
		_, s.tool = tracer.Start(s.turnCtx, "execute_tool "+bounded(name))
	}
}

func (s *session) toolEnded() {
	if s.tool != nil {
		s.tool.End()
		s.tool = nil
	}
}
