// Package claude is an engine for the claude CLI (https://code.claude.com/docs/en/headless). It knows how to
// call and confine the CLI, what its events mean, and why a turn failed. It owns the session's home
// directory, which exists until Close and in which the CLI keeps the conversation.
package claude

import (
	"context"
	"errors"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
)

// Engine is the claude CLI. The zero value runs "claude" from PATH, with the login in this process's
// environment.
type Engine session.Program

var _ engine.Engine = (*Engine)(nil)

// Name is "claude".
func (e *Engine) Name() string { return kind.Name }

// Efforts are the levels of --effort.
func (*Engine) Efforts() []string { return []string{"low", "medium", "high", "xhigh", "max"} }

// Probe asks the CLI for its version, and checks that there is a usable login. Only a provider of the user's
// own choice may need none.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	version, err := session.Program(*e).Probe(ctx, kind)
	if err != nil {
		return engine.Version{}, err
	}
	login, err := e.login(0)
	version.Provider = providerOf(session.Program(*e))
	switch {
	case err != nil:
	case login.variable == "" && version.Provider == anthropic:
		err = engine.Errorf(engine.Auth, "there is no login for claude; %s", loginHint)
	case login.variable == "":
		version.Direct = "it has no login"
	case e.provider(login) == nil:
		version.Direct = "its login is a subscription, which only claude itself may use"
	}
	return version, err
}

// instructionsFile is the file whose content the CLI adds to its system prompt. There, a provider's cache
// keeps it for the next session. CLAUDE.md would be part of the first message, which differs between
// sessions.
const instructionsFile = ".claude/instructions.md"

// Open starts a session.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	login, err := e.login(req.Timeout)
	if err != nil {
		return nil, engine.Classified(err)
	}
	if login.variable == subscriptionVariable {
		session.WarnDirect(ctx, kind)
	}
	gated, err := session.OpenGated(ctx, session.Program(*e), kind, req, e.provider(login))
	if err != nil {
		return nil, err
	}
	args, err := arguments(gated.Request)
	if err == nil {
		err = gated.Home.Write(instructionsFile, []byte(req.Instructions))
	}
	if err != nil {
		return nil, engine.Classified(errors.Join(err, gated.Close()))
	}
	if req.Instructions != "" {
		args = append(args, "--append-system-prompt-file", gated.Home.Path(instructionsFile))
	}
	return &conversation{Gated: gated, engine: e, args: args}, nil
}
