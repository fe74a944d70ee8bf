package claude_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
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
			dir := worktree(t, map[string]string{"a.go": "package acme\n"})
			search := enginetest.LoginSearch(t, dir, secret)
			p := enginetest.NewProvider(t,
				enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": search, "description": "d"}},
				enginetest.Turn{Text: []string{"Done."}},
			)
			e := realEngine(t, p)
			e.Confine, e.Direct = true, direct
			e.Environ = []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + p.URL, name + "=" + secret}
			if _, err := enginetest.Run(t.Context(), e,
				engine.Request{Role: engine.Author, Dir: dir, Allow: []string{search}, Timeout: await.Patience, IdleTimeout: await.Patience},
				"Go on."); err != nil {
				t.Fatal(err)
			}
			enginetest.WantNothingStolen(t, p)
		})
	}
}
