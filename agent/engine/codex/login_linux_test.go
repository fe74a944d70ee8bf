package codex_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/codex"
	"touchstone/agent/engine/enginetest"
)

// TestRealLoginIsOutOfReach has a command of a session look for its key, without a gateway.
func TestRealLoginIsOutOfReach(t *testing.T) {
	t.Parallel()
	enginetest.Confined(t)
	const secret = "sk-canary-of-the-login"
	enginetest.WantLoginOutOfReach(t, secret, engine.Request{Dir: t.TempDir()},
		func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": command, "yield_time_ms": 120_000}}
		},
		func(p *enginetest.Provider) engine.Engine {
			return &codex.Engine{
				Command: []string{enginetest.CLI(t, "codex")}, TempDir: t.TempDir(), Direct: true,
				Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + secret, "OPENAI_BASE_URL=" + p.URL + "/v1"},
			}
		})
}
