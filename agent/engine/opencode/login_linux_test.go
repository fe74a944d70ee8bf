package opencode_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/opencode"
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
		enginetest.Turn{Tool: "bash", Input: map[string]any{"command": search, "description": "d"}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(), Confine: true, Direct: true,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + secret, "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	if _, err := enginetest.Run(t.Context(), e, engine.Request{
		Role: engine.Author, Dir: dir, Model: "openai/scripted", Allow: []string{search}, IdleTimeout: await.Patience,
	}, "Go on."); err != nil {
		t.Fatal(err)
	}
	enginetest.WantNothingStolen(t, p)
}
