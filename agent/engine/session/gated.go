package session

import (
	"context"
	"errors"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
)

// Gated is a session whose CLI reaches its provider through a gateway.
type Gated struct {
	*Base
	// Gateway is nil if the login cannot go through one.
	Gateway *gateway.Gateway
}

// OpenGated makes a home for a session that was asked for, and opens its gateway
// to the provider; without a provider there is none.
func OpenGated(program Program, kind Kind, req engine.Request, provider *gateway.Provider) (*Gated, error) {
	base, err := Open(program, kind, req)
	if err != nil || provider == nil {
		return &Gated{Base: base}, err
	}
	g, err := gateway.Open(*provider)
	if err != nil {
		return nil, Unstarted(errors.Join(err, base.Close()))
	}
	return &Gated{Base: base, Gateway: g}, nil
}

// Run runs the CLI for one turn. The turn that it returns tells how the provider
// has answered; the error is what kept the CLI from ending by itself, by the
// provider's reason if it had one.
func (g *Gated) Run(ctx context.Context, cmd process.Command, args []string) (process.Report, *gateway.Turn, error) {
	if g.Gateway == nil {
		report, err := g.Base.Run(ctx, cmd, args)
		return report, nil, err
	}
	cmd.Env = append(g.direct(), cmd.Env...)
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	turn := g.Gateway.Begin(giveUp)
	cmd.Alive = g.Gateway.Heard
	report, err := g.Base.Run(ctx, cmd, args)
	var failure *engine.Error
	if !errors.As(err, &failure) {
		return report, turn, err
	}
	waiting := failure.Class == engine.Idle || failure.Class == engine.Timeout
	if refusal, refused := turn.Refused(); refused && (waiting || turn.GaveUp()) {
		return report, turn, g.refused(refusal)
	}
	return report, turn, err
}

// direct are the variables that let the CLI reach the gateway although others are
// to be reached by a proxy.
func (g *Gated) direct() []string {
	var env []string
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env = append(env, name+"="+strings.TrimPrefix(g.Program.Lookup(name)+",127.0.0.1", ","))
	}
	return env
}

// Failure is a turn that failed by the CLI's word, which is passed on; of the
// provider's refusal, if there was one, the gateway knows more.
func (g *Gated) Failure(turn *gateway.Turn, class engine.Class, detail string) *engine.Error {
	if refusal, refused := turn.Refused(); refused {
		failure := g.refused(refusal)
		failure.Message = g.Kind.Failure(failure.Class, detail).Message
		return failure
	}
	return g.Kind.Failure(class, detail)
}

func (g *Gated) refused(refusal gateway.Refusal) *engine.Error {
	failure := g.Kind.Failure(refusal.Class(), NewTranscript(nil, g.Gateway.Redact).Detail(refusal.Message))
	failure.RetryAfter = refusal.RetryAfter
	return failure
}

// Close closes the gateway and removes the session's home.
func (g *Gated) Close() error {
	if g.Gateway == nil {
		return g.Base.Close()
	}
	return errors.Join(g.Gateway.Close(), g.Base.Close())
}
