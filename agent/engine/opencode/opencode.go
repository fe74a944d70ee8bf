// Package opencode is an engine for the opencode CLI (https://opencode.ai/docs/cli/). It knows how to call
// and confine the CLI, what its events mean, and why a turn failed. It owns the session's home directory and
// gateway, which exist until Close. The CLI keeps the conversation in the home.
//
// The CLI searches files with ripgrep, which should be on PATH. Otherwise the CLI tries to download it in
// every session, and its search tools fail if it cannot.
package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/session"
)

// Engine is the opencode CLI. The zero value runs "opencode" from PATH, with the API keys in this process's
// environment.
type Engine session.Program

var _ engine.Engine = (*Engine)(nil)

var kind = session.Kind{
	Name: "opencode", Package: "opencode-ai", Least: "1.18.33",
	Login:   "set OPENAI_API_KEY for a model named openai/… or openai-compatible/…, ANTHROPIC_API_KEY for one named anthropic/…",
	Refuses: []string{"opencode run [message..]", "Configuration is invalid"}, // the CLI's usage text, for an unknown flag
	Shell:   "SHELL", Withheld: []string{keyVariable, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"},
}

// service is a kind of provider that the CLI is used with.
type service struct {
	// library is the CLI's library for the service's API.
	library string
	// url is the service's address, unless the variable address overrides it. It is empty if only the
	// variable can say it.
	url, address string
	// path is what the library expects after the address.
	path string
	key  string
	// effort is the library's option for how much a model should think.
	effort string
}

var services = map[string]service{
	// This library uses the Responses API: OpenAI's own models work best with it, and some only with it.
	"openai": {
		library: "@ai-sdk/openai", url: "https://api.openai.com/v1",
		address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", effort: "reasoningEffort",
	},
	// What other providers call OpenAI's API is mostly chat completions only. OpenAI's own models reject this
	// library's requests.
	"openai-compatible": {library: "@ai-sdk/openai-compatible", address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", effort: "reasoningEffort"},
	"anthropic": {
		library: "@ai-sdk/anthropic", url: "https://api.anthropic.com",
		address: "ANTHROPIC_BASE_URL", path: "/v1", key: "ANTHROPIC_API_KEY", effort: "effort",
	},
}

// Name is "opencode".
func (e *Engine) Name() string { return kind.Name }

// Keys are the variables in which the engine looks for the key of a model's service.
func (*Engine) Keys() []string {
	var keys []string
	for _, s := range services {
		keys = append(keys, s.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Efforts are the levels that the libraries for its services pass on.
func (*Engine) Efforts() []string { return []string{"minimal", "low", "medium", "high", "xhigh"} }

// Probe asks the CLI for its version, and checks that there is ripgrep and any API key.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	version, err := session.Program(*e).Probe(ctx, kind)
	if err != nil {
		return engine.Version{}, err
	}
	if !session.Program(*e).Finds("rg") {
		version.Lacks = "it searches with ripgrep, which is not on PATH and which it downloads in every session; install it, such as by `apt " +
			"install ripgrep` or `brew install ripgrep`"
	}
	lookup := session.Program(*e).Lookup
	for _, name := range []string{"openai", "anthropic"} {
		if s := services[name]; lookup(s.key) != "" {
			version.Provider = cmp.Or(lookup(s.address), s.url)
			return version, nil
		}
	}
	return version, kind.Failure(engine.Auth, "")
}

// Open starts a session. The model is named as in the CLI, with its provider.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	if err := e.Takes(req.Model); err != nil {
		return nil, engine.Classified(err)
	}
	name, model, _ := strings.Cut(req.Model, "/")
	chosen := services[name]
	lookup := session.Program(*e).Lookup
	if lookup(chosen.key) == "" {
		return nil, kind.Failure(engine.Auth, "")
	}
	url := cmp.Or(lookup(chosen.address), chosen.url)
	if url == "" {
		return nil, engine.Errorf(engine.Invalid, "no address is known for a model named %s; set %s", req.Model, chosen.address)
	}
	gated, err := session.OpenGated(ctx, session.Program(*e), kind, req,
		&gateway.Provider{URL: url, Key: lookup(chosen.key), CacheKey: session.CacheKey(req.Instructions)})
	if err != nil {
		return nil, err
	}
	config, err := configuration(gated, chosen, model)
	if err == nil {
		err = gated.Home.Write(configFile, config)
	}
	for name, content := range laid {
		if err == nil {
			err = gated.Home.Write(name, []byte(content))
		}
	}
	if err != nil {
		return nil, engine.Classified(errors.Join(err, gated.Close()))
	}
	return &conversation{Gated: gated}, nil
}

// Takes says why a model cannot be used. The CLI names models with their provider.
func (*Engine) Takes(model string) error {
	name, rest, _ := strings.Cut(model, "/")
	if _, known := services[name]; !known || rest == "" {
		return fmt.Errorf("opencode needs a model named openai/…, openai-compatible/… or anthropic/…, not %q; set it in the configuration", model)
	}
	return nil
}
