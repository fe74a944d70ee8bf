package claude_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
)

// TestRealLoginIsOutOfReach has a command of a session look for its login: a subscription's, and a
// key with a gateway and without.
func TestRealLoginIsOutOfReach(t *testing.T) {
	t.Parallel()
	enginetest.Confined(t)
	const secret = "sk-ant-canary-of-the-login"
	for name, direct := range map[string]bool{"CLAUDE_CODE_OAUTH_TOKEN": false, "ANTHROPIC_API_KEY": true, "ANTHROPIC_AUTH_TOKEN": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.WantLoginOutOfReach(t, secret, engine.Request{Dir: enginetest.Worktree(t, map[string]string{"a.go": "package acme\n"})},
				func(command string) enginetest.Turn {
					return enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": command, "description": "d"}}
				},
				func(p *enginetest.Provider) engine.Engine {
					e := realEngine(t, p)
					e.Confine, e.Direct = true, direct
					e.Environ = []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + p.URL, name + "=" + secret}
					return e
				})
		})
	}
}
