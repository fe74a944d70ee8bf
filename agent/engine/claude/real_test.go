package claude_test

import (
	"context"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/enginetest"
)

// The tests of this file run the real CLI against a scripted provider.

const testKey = "sk-ant-api03-canary-of-the-login"

func realEngine(t testing.TB, p *enginetest.Provider, environ ...string) *claude.Engine {
	t.Helper()
	return &claude.Engine{
		Command: []string{enginetest.Claude(t)},
		Environ: append(append([]string{
			"ANTHROPIC_API_KEY=" + testKey, "ANTHROPIC_BASE_URL=" + p.URL, "CLAUDE_CODE_MAX_RETRIES=1",
		}, path()), environ...),
		TempDir: t.TempDir(),
	}
}

func TestReviewerGetsTheWholeAnswer(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t,
		enginetest.Turn{Text: []string{"## [Graph]\n\n", "Nothing."}, Tool: "Glob", Input: map[string]any{"pattern": "*.go"}},
		enginetest.Turn{Text: []string{"## [Security]\n\nThe block is {\"cut\":"}, Stop: "max_tokens"},
		enginetest.Turn{Text: []string{"\"here\"}"}},
	)
	var seen []engine.Progress
	result, err := realEngine(t, p).Run(context.Background(), engine.Request{
		Role: engine.Reviewer, Dir: t.TempDir(), Prompt: "Review this.", Instructions: "INSTRUCTIONS-OF-THE-ROLE",
		Timeout: time.Minute, Progress: func(p engine.Progress) { seen = append(seen, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", result)
	t.Logf("%+v", seen)
}
