// Package telemetry owns what the agent's work takes: every turn of every session, finished
// or not, is counted into the act that it is for, into Prometheus metrics and into an
// OpenTelemetry span. It stores nothing, and nothing ever waits for a collector.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"touchstone/agent/engine"
	"touchstone/agent/journal"
)

// tracer names the spans' origin. Without a collector, see [Export], its spans cost nothing.
var tracer = otel.Tracer("touchstone/agent")

// Act is something that is done to a pull request. Its methods may be called from several
// goroutines at once.
type Act struct {
	span  trace.Span
	name  string
	begun time.Time

	mu      sync.Mutex
	account journal.Account
	// open is what the turns under way have taken until now.
	open map[*session]journal.Account
	// worked says that a model wrote something or called a tool.
	worked bool
}

type actKey struct{}

// Begin begins the act of a kind, such as "review", on a commit of a pull request given
// as owner/name#12. What is counted under the returned context is the act's.
func Begin(ctx context.Context, kind, pull, sha string) (context.Context, *Act) {
	act := &Act{name: kind, begun: time.Now()}
	ctx, act.span = tracer.Start(ctx, kind, trace.WithAttributes(
		attribute.String("touchstone.pull_request", pull), attribute.String("vcs.ref.head.revision", sha)))
	return context.WithValue(ctx, actKey{}, act), act
}

// Account is what the act took until now, that of its turns under way included.
func (a *Act) Account() journal.Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.account
	for _, turn := range a.open {
		sum.Add(turn)
	}
	sum.Duration = min(sum.Duration, time.Since(a.begun)) // turns may run at the same time
	return sum
}

// Paid reports whether something of the act has to be paid for, as far as is known: a model has
// worked, even without figures, since there may be none where a CLI was stopped.
func (a *Act) Paid() bool {
	account := a.Account()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.worked || account.Usage.Total() > 0 || account.CostUSD > 0
}

// End ends the act; err is what became of it.
func (a *Act) End(err error) {
	outcome := outcome(err)
	acts.WithLabelValues(a.name, outcome).Inc()
	actSeconds.WithLabelValues(a.name).Observe(time.Since(a.begun).Seconds())
	account := a.Account()
	a.span.SetAttributes(attribute.Float64("touchstone.cost_usd", account.CostUSD), attribute.Int("touchstone.runs", account.Turns))
	end(a.span, err)
}

// update takes note of what a session's turn under way has taken until now.
func (a *Act) update(s *session, turn journal.Account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[*session]journal.Account{}
	}
	a.open[s] = turn
	a.worked = a.worked || s.worked
}

// count adds a turn that has ended.
func (a *Act) count(s *session, turn journal.Account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, s)
	a.account.Add(turn)
	a.worked = a.worked || s.worked
}

// Step begins a part of an act, such as "prepare"; the returned function ends it.
func Step(ctx context.Context, name string) (context.Context, func(error)) {
	ctx, span := tracer.Start(ctx, name)
	return ctx, func(err error) { end(span, err) }
}

// end ends a span. What an error says may be foreign text, and long: the span names its kind
// only, and the log has the rest.
func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attribute.String("error.type", outcome(err)))
	}
	span.End()
}

// outcome is the kind of an act's or a turn's end, one of a few words.
func outcome(err error) string {
	var failed *engine.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &failed):
		return string(failed.Class)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return string(engine.Cancelled)
	}
	return "error"
}

// bounded is a name as a label can carry it; the name may come from anywhere.
func bounded(name string) string {
	const most = 64
	if end := strings.IndexFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }); end >= 0 {
		name = name[:end]
	}
	return cmp.Or(name[:min(len(name), most)], "unknown")
}
