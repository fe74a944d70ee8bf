package opencode_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/opencode"
)

// TestRealLoginIsOutOfReach has a command of a session look for its key, without a gateway.
func TestRealLoginIsOutOfReach(t *testing.T) {
	t.Parallel()
	enginetest.Confined(t)
	const secret = "sk-canary-of-the-login"
	enginetest.WantLoginOutOfReach(t, secret, engine.Request{Dir: t.TempDir(), Model: "openai/scripted"},
		func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "bash", Input: map[string]any{"command": command, "description": "d"}}
		},
		func(p *enginetest.Provider) engine.Engine {
			return &opencode.Engine{
				Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(), Confine: true, Direct: true,
				Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + secret, "OPENAI_BASE_URL=" + p.URL + "/v1"},
			}
		})
}
