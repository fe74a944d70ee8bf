package codex_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/codex"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
)

// TestRealLoginIsOutOfReach has a command of a session look for its key, without a gateway.
func TestRealLoginIsOutOfReach(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary-of-the-login"
	dir := t.TempDir()
	search := enginetest.LoginSearch(t, dir, secret)
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": search, "yield_time_ms": 120_000}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	e := &codex.Engine{
		Command: []string{enginetest.CLI(t, "codex")}, TempDir: t.TempDir(), Direct: true,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + secret, "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	if _, err := enginetest.Run(t.Context(), e, engine.Request{Role: engine.Author, Dir: dir, IdleTimeout: await.Patience},
		"Go on."); err != nil {
		t.Fatal(err)
	}
	enginetest.WantNothingStolen(t, p)
}
