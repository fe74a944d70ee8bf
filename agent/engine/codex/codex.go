// Package codex is an engine for the codex CLI (https://developers.openai.com/codex/noninteractive). It knows
// how to call and confine the CLI, what its events mean, and why a turn failed. It owns the session's home
// directory and gateway, which exist until Close. The CLI keeps the conversation in the home.
//
// Codex can only read files with shell commands, so a reviewer has them too: in codex's own sandbox, in which
// nothing can be written, the network cannot be reached, and only the system's programs and the session's
// directories can be read.
package codex

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// Engine is the codex CLI. The zero value runs "codex" from PATH, with the API key in this process's
// environment.
type Engine session.Program

var _ engine.Engine = (*Engine)(nil)

var kind = session.Kind{
	Name: "codex", Package: "@openai/codex", Least: "0.169.0",
	Login: "set OPENAI_API_KEY (a login by subscription cannot be used here)", Confines: true,
	Refuses: []string{"Error loading config", "unexpected argument"},
	// "Input exceeds the maximum length of 1048576 characters." (seen in 0.169.0)
	MaxPrompt: 1 << 20,
}

// Name is "codex".
func (e *Engine) Name() string { return kind.Name }

// Efforts are the values of model_reasoning_effort
// (https://developers.openai.com/codex/config-reference).
func (*Engine) Efforts() []string { return []string{"minimal", "low", "medium", "high", "xhigh"} }

// Probe asks the CLI for its version, and checks that its sandbox works on this machine and that there is an
// API key.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	version, err := session.Program(*e).Probe(ctx, kind)
	if err != nil {
		return engine.Version{}, err
	}
	if err := e.probeSandbox(ctx); err != nil {
		return version, err
	}
	provider, err := e.provider()
	version.Provider = provider.URL
	return version, err
}

// probeSandbox runs a program in the CLI's sandbox. Where the sandbox does not work, as in many containers, a
// session could not read a single file.
func (e *Engine) probeSandbox(ctx context.Context) error {
	if runtime.GOOS == "windows" {
		// On Windows the user must set the sandbox up; the CLI itself says so.
		return nil
	}
	program := session.Program(*e)
	home, err := session.NewHome(program.TempDir)
	if err != nil {
		return engine.Classified(err)
	}
	// An error here does not change what is known about the sandbox.
	defer func() { _ = home.Remove() }()
	said := ""
	report, err := process.Command{
		Args: program.Args(kind, "sandbox", "--", "/bin/echo", "inside"), Dir: home.Dir,
		Env:     append(program.Environment(kind, home, home.Path("tmp")), "CODEX_HOME="+home.Dir),
		Timeout: sandboxTimeout, IdleTimeout: sandboxTimeout,
		Line: func(line []byte) error { said = string(line); return nil },
	}.Run(ctx)
	if err != nil {
		return err
	}
	if said != "inside" {
		return engine.Errorf(engine.Missing, "codex's sandbox does not work on this machine (%s: %s); it needs unprivileged user namespaces "+
			"on Linux",
			report.Exit, session.NewTranscript(nil, strings.TrimSpace).Detail(report.Stderr))
	}
	return nil
}

const sandboxTimeout = 30 * time.Second

// Keys are the variables in which the engine looks for the provider's key; the first one that is set counts.
func (*Engine) Keys() []string { return []string{"CODEX_API_KEY", "OPENAI_API_KEY"} }

// provider is the address and login in the CLI's variables.
func (e *Engine) provider() (gateway.Provider, error) {
	lookup := session.Program(*e).Lookup
	for _, variable := range e.Keys() {
		if key := lookup(variable); key != "" {
			return gateway.Provider{URL: cmp.Or(lookup("OPENAI_BASE_URL"), "https://api.openai.com/v1"), Key: key}, nil
		}
	}
	return gateway.Provider{}, kind.Failure(engine.Auth, "")
}

// Open starts a session.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	provider, err := e.provider()
	if err != nil {
		return nil, err
	}
	provider.CacheKey = session.CacheKey(req.Instructions)
	gated, err := session.OpenGated(ctx, session.Program(*e), kind, req, &provider)
	if err != nil {
		return nil, err
	}
	config, err := configuration(gated)
	if err == nil {
		err = gated.Home.Write(configFile, config)
	}
	if err != nil {
		return nil, engine.Classified(errors.Join(err, gated.Close()))
	}
	return &conversation{Gated: gated}, nil
}
