package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/usage"
)

// Gated is the part of a session that is the same for all CLIs. The CLI reaches its provider through a gateway, if it can and is
// configured to.
type Gated struct {
	Program Program
	Kind    Kind
	Request engine.Request
	Home    Home
	// Gateway is nil if the CLI talks to the provider directly.
	Gateway *gateway.Gateway
	// Account is the gateway's account, if there is a gateway. Otherwise it is charged with what the CLI
	// reports.
	Account *usage.Account

	provider *gateway.Provider
	left     time.Duration // for all turns
	closed   bool
	// toldEstimated says that the log already mentions answers without figures.
	toldEstimated bool
}

// OpenGated makes a home for a session and opens its gateway to the provider. There is no gateway if the
// program's sessions are direct, or if provider is nil: then the login is one that only the CLI itself may
// use.
func OpenGated(ctx context.Context, program Program, kind Kind, req engine.Request, provider *gateway.Provider) (*Gated, error) {
	req, err := req.Bounded()
	if err != nil {
		return nil, engine.Classified(err)
	}
	home, err := NewHome(program.TempDir)
	if err != nil {
		return nil, engine.Classified(err)
	}
	if provider != nil {
		provider.Key = strings.TrimSpace(provider.Key) // a file from another system may have other line endings
	}
	g := &Gated{
		Program: program, Kind: kind, Request: req, Home: home, left: req.Timeout,
		Account: usage.Open(req, program.prices(kind)), provider: provider,
	}
	if tell := req.Progress; tell != nil {
		g.Request.Progress = func(p engine.Progress) {
			sum := g.Account.Sum()
			p.Used, p.CostUSD = sum.Usage, sum.CostUSD
			tell(p)
		}
	}
	g.warn(ctx)
	if provider == nil || program.Direct {
		return g, nil
	}
	if g.Gateway, err = gateway.Open(*provider, g.Account); err != nil {
		return nil, engine.Classified(errors.Join(err, g.Close()))
	}
	return g, nil
}

// CacheKey is the key under which a provider's cache shares the prompts of sessions with the same
// instructions.
func CacheKey(instructions string) string {
	sum := sha256.Sum256([]byte(instructions))
	return "touchstone-" + hex.EncodeToString(sum[:8])
}

// toldDirect are the names of the engines for which the log already says that their sessions use no gateway.
// That is the same for all sessions of an engine.
var toldDirect sync.Map

// WarnDirect logs, once, that a CLI sends the user's login to its provider itself.
func WarnDirect(ctx context.Context, kind Kind) {
	if _, again := toldDirect.LoadOrStore(kind.Name, true); !again {
		zerolog.Ctx(ctx).Info().Str("engine", kind.Name).Msg("sessions of this engine ask their provider directly, not through the gateway; " +
			"touchstone doctor says why")
	}
}

// warn logs which bounds of the session cannot be enforced.
func (g *Gated) warn(ctx context.Context) {
	log := zerolog.Ctx(ctx)
	if g.Program.Direct {
		WarnDirect(ctx, g.Kind)
	}
	if len(g.Program.prices(g.Kind)) == 0 {
		log.Warn().Str("engine", g.Kind.Name).Msg("the prices of this engine's models are not known, so they count as the most expensive ones; " +
			"set prices in the configuration")
	}
}

// Address is the URL of the provider for the CLI, and the key.
func (g *Gated) Address() (url, key string) {
	if g.Gateway != nil {
		return g.Gateway.URL, g.Gateway.Token
	}
	return g.provider.URL, g.provider.Key
}

// Redact removes the session's keys from a text.
func (g *Gated) Redact(text string) string {
	switch {
	case g.Gateway != nil:
		return g.Gateway.Redact(text)
	case g.provider != nil && g.provider.Key != "":
		return strings.ReplaceAll(text, g.provider.Key, "[redacted]")
	}
	return text
}

// Turn is how the CLI's run for one turn went.
type Turn struct {
	process.Report
	// Stopped is why the CLI did not end by itself, with the provider's reason if there is one, or why the
	// session may not continue.
	Stopped error

	provider *gateway.Turn
	before   usage.Sum
}

// Refused reports whether the provider's last response in the turn was a refusal. A CLI may not report that,
// for instance if the provider broke off its answer.
func (t Turn) Refused() bool {
	_, refused := t.provider.Refused()
	return refused
}

// Run runs the CLI for one turn. Alive and Working of cmd only count without a gateway, since the gateway
// knows more.
func (g *Gated) Run(ctx context.Context, cmd process.Command, args []string) Turn {
	turn := Turn{before: g.Account.Sum()}
	if g.Request.Role == engine.Author {
		cmd.ToolTimeout = g.Request.ToolTimeout
	}
	if g.Gateway == nil {
		cmd.Env = append(g.Program.proxies(), cmd.Env...)
		turn.Report, turn.Stopped = g.run(ctx, cmd, args)
		return turn
	}
	cmd.Env = append(g.direct(), cmd.Env...)
	running, giveUp := context.WithCancel(ctx)
	defer giveUp()
	turn.provider = g.Gateway.Begin(giveUp)
	cmd.Alive, cmd.Working, cmd.Asking = g.Gateway.Alive, g.Gateway.Working, g.Gateway.Asking
	g.tellWaits(&cmd, turn.provider)
	turn.Report, turn.Stopped = g.run(running, cmd, args)
	g.Gateway.Settle()
	g.warnEstimated(ctx)
	if ctx.Err() == nil {
		turn.Stopped = g.reason(turn)
	}
	return turn
}

// tellWaits reports each wait after a refusal, of which few CLIs say anything, and reports it again in place of a
// heartbeat, which would say that the model is thinking.
func (g *Gated) tellWaits(cmd *process.Command, provider *gateway.Turn) {
	transcript, silence := NewTranscript(g.Request.Progress, g.Redact), cmd.Silence
	report := func(wait gateway.Wait, how string) {
		said := transcript.clean(wait.Message, maxReason)
		if wait.Status > 0 {
			said = strings.TrimSpace(fmt.Sprintf("%d %s", wait.Status, said))
		}
		transcript.Report(engine.ProgressRetry, fmt.Sprintf("%s (refusal %d%s)", said, wait.Refusals, how))
	}
	cmd.Signs = func() {
		wait, again, waiting := provider.Waiting()
		switch {
		case !waiting || again || g.Kind.TellsRetries:
		case wait.Told > 0:
			report(wait, fmt.Sprintf(", told to wait %s", wait.Told))
		default:
			report(wait, "")
		}
	}
	cmd.Silence = func(since time.Duration) {
		if wait, _, waiting := provider.Waiting(); waiting {
			report(wait, fmt.Sprintf(", waiting for %s", since))
		} else if silence != nil {
			silence(since)
		}
	}
}

// warnEstimated logs, once in a session, that answers had no figures.
func (g *Gated) warnEstimated(ctx context.Context) {
	if n := g.Account.Sum().Estimated; n > 0 && !g.toldEstimated {
		g.toldEstimated = true
		zerolog.Ctx(ctx).Info().Str("engine", g.Kind.Name).Int("answers",
			n).Msg("the provider's answer did not report its usage, perhaps because it was cut off, so its tokens and cost are estimated")
	}
}

// reason is why a turn was stopped. The gateway's reason takes precedence.
func (g *Gated) reason(turn Turn) error {
	if over := turn.provider.Over(); over != nil {
		return over
	}
	failure, stopped := errors.AsType[*engine.Error](turn.Stopped)
	if refusal, refused := turn.provider.Refused(); stopped && refused && (failure.Late() || turn.provider.GaveUp()) {
		return g.refused(refusal)
	}
	return turn.Stopped
}

// direct are the variables by which the CLI reaches the gateway directly even if a proxy is set.
func (g *Gated) direct() []string {
	var env []string
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env = append(env, name+"="+strings.TrimPrefix(g.Program.Lookup(name)+",127.0.0.1", ","))
	}
	return env
}

// Failure is the error of a turn that failed according to the CLI, with the CLI's message. If the provider
// refused a request, the class is that of the refusal, which the gateway knows better.
func (g *Gated) Failure(turn Turn, class engine.Class, detail string) *engine.Error {
	if refusal, refused := turn.provider.Refused(); refused {
		failure := g.refused(refusal)
		failure.Message = g.Kind.Failure(failure.Class, detail).Message
		return failure
	}
	return g.Kind.Failure(class, detail)
}

func (g *Gated) refused(refusal gateway.Refusal) *engine.Error {
	failure := g.Kind.Failure(refusal.Class(), NewTranscript(nil, g.Redact).Detail(refusal.Message))
	failure.RetryAfter = refusal.RetryAfter
	return failure
}
