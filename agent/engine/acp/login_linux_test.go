package acp_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/acp"
	"touchstone/agent/engine/enginetest"
)

// TestRealLoginIsOutOfReach has a command of a session look for its key, without a gateway.
func TestRealLoginIsOutOfReach(t *testing.T) {
	t.Parallel()
	enginetest.Confined(t)
	const secret = "sk-canary-of-the-login"
	enginetest.WantLoginOutOfReach(t, secret, engine.Request{Dir: t.TempDir(), Model: "gemini-2.5-pro"},
		func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "run_shell_command", Input: map[string]any{"command": command, "description": "d"}}
		},
		func(p *enginetest.Provider) engine.Engine {
			return &acp.Engine{
				Command: []string{enginetest.CLI(t, "gemini"), "--acp"}, TempDir: t.TempDir(), Confine: true, Direct: true,
				Environ: []string{"PATH=" + os.Getenv("PATH"), "GEMINI_API_KEY=" + secret, "GOOGLE_GEMINI_BASE_URL=" + p.URL},
			}
		})
}
