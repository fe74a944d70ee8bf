package acp_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/acp"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
)

// TestRealLoginIsOutOfReach has a command of a session look for its key, without a gateway.
func TestRealLoginIsOutOfReach(t *testing.T) {
	t.Parallel()
	enginetest.Confined(t)
	const secret = "sk-canary-of-the-login"
	dir := t.TempDir()
	search := enginetest.LoginSearch(t, dir, secret)
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "run_shell_command", Input: map[string]any{"command": search, "description": "d"}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	e := &acp.Engine{
		Command: []string{enginetest.CLI(t, "gemini"), "--acp"}, TempDir: t.TempDir(), Confine: true, Direct: true,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "GEMINI_API_KEY=" + secret, "GOOGLE_GEMINI_BASE_URL=" + p.URL},
	}
	if _, err := enginetest.Run(t.Context(), e, engine.Request{
		Role: engine.Author, Dir: dir, Model: "gemini-2.5-pro", Allow: []string{search}, IdleTimeout: await.Patience,
	}, "Go on."); err != nil {
		t.Fatal(err)
	}
	enginetest.WantNothingStolen(t, p)
}
