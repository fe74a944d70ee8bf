package fallback_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/engine/session"
)

// real is an engine over the real CLIs, which reach one provider, by the gateway or directly.
func real(t *testing.T, provider *enginetest.Provider, settings *config.Engine) *fallback.Engine {
	environ := []string{
		"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=sk-a", "ANTHROPIC_BASE_URL=" + provider.URL, "CLAUDE_CODE_MAX_RETRIES=1",
		"OPENAI_API_KEY=sk-b", "OPENAI_BASE_URL=" + provider.URL + "/v1",
	}
	return &fallback.Engine{
		Settings: func() config.Engine { return *settings },
		New: func(name string) (engine.Engine, error) {
			return engines.New(name, session.Program{Command: []string{enginetest.CLI(t, name)}, Environ: environ, TempDir: t.TempDir(),
				Direct: settings.Gateway == config.Off})
		},
	}
}

// modelOf is the model that a request is for.
func modelOf(call enginetest.Call) string {
	var request struct{ Model string }
	_ = json.Unmarshal(call.Body, &request) // what cannot be read is for no model
	return request.Model
}

// TestRealCLIsGoOn from one model to another, and from one engine to another; and the next
// session does not ask in vain.
func TestRealCLIsGoOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault    enginetest.Fault
		fallback []string
		engine   string
		why      string
	}{
		"within the family": {enginetest.Overloaded, nil, "claude",
			"claude opus was requested but is overloaded; claude sonnet answered instead"},
		"to another engine": {enginetest.NoCredit, []string{"sonnet", "codex:gpt-5"}, "codex",
			"claude opus was requested but has no credit left; codex gpt-5 answered instead"},
		"from an unknown model": {enginetest.NoSuchModel, nil, "claude",
			"claude opus was requested but is not known to its provider; claude sonnet answered instead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := enginetest.NewThinker(t, func(_ int, call enginetest.Call) enginetest.Turn {
				if call.Path == "/v1/messages" && (strings.Contains(modelOf(call), "opus") || test.fault == enginetest.NoCredit) {
					return enginetest.Turn{Fault: test.fault}
				}
				return enginetest.Turn{Text: []string{"Nothing to say."}}
			})
			settings := config.Default().Engine
			settings.Fallback = test.fallback
			e := real(t, provider, &settings)
			req := engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: "opus", Timeout: 5 * time.Minute, IdleTimeout: 5 * time.Minute}
			result, err := enginetest.Run(t.Context(), e, req, "Go on.")
			if err != nil || result.Engine != test.engine || result.Switched != test.why || strings.TrimSpace(result.Text) != "Nothing to say." {
				t.Fatalf("%+v, %v", result, err)
			}
			before := len(provider.Calls())
			if _, err := enginetest.Run(t.Context(), e, req, "Go on."); err != nil {
				t.Fatal(err)
			}
			for _, call := range provider.Calls()[before:] {
				if strings.Contains(modelOf(call), "opus") {
					t.Error("the model that rests was asked again")
				}
			}
		})
	}
}

// TestRealNamesOfModelsAreSwitchedOff: settings name a model by an alias, or leave the choice to
// the CLI; what is switched off is not asked all the same.
func TestRealNamesOfModelsAreSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{config.On, config.Off} {
		for _, wanted := range []string{"", "opus"} {
			t.Run("gateway "+gateway+" "+wanted, func(t *testing.T) {
				t.Parallel()
				provider := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Nothing to say."}})
				settings := config.Default().Engine
				settings.Gateway = gateway
				e := real(t, provider, &settings)
				req := engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: wanted, Timeout: 5 * time.Minute, IdleTimeout: 5 * time.Minute}
				first, err := enginetest.Run(t.Context(), e, req, "Go on.")
				if err != nil {
					t.Fatal(err)
				}
				settings.Off = []string{first.Model}
				// A new process does not know what the CLI calls its choice.
				e = real(t, provider, &settings)
				for again := range 2 {
					before := len(provider.Calls())
					result, err := enginetest.Run(t.Context(), e, req, "Go on.")
					if err != nil || !strings.HasSuffix(result.Switched, " was requested but is switched off; claude sonnet answered instead") {
						t.Fatalf("%+v, %v", result, err)
					}
					// A CLI that asks directly is stopped with its first word, and asked no more.
					for _, call := range provider.Calls()[before:] {
						if (gateway == config.On || again > 0) && modelOf(call) == first.Model {
							t.Errorf("%s was asked although it is switched off", first.Model)
						}
					}
					if result.Model == first.Model {
						t.Errorf("%s answered although it is switched off", first.Model)
					}
				}
			})
		}
	}
}
