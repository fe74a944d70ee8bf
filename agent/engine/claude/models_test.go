package claude_test

import (
	"encoding/json"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
)

// TestRealAsksOneModel: the gateway holds a session to the models that it begins with. A small
// one of the CLI's own, asked for later, would be refused: for a title, a command, a page, a
// sub-agent, or the summary of what has grown too long.
func TestRealAsksOneModel(t *testing.T) {
	t.Parallel()
	calls := func(tool string, input map[string]any) enginetest.Turn {
		return enginetest.Turn{Text: []string{"Look."}, Tool: tool, Input: input}
	}
	p := enginetest.NewProvider(t,
		calls("Bash", map[string]any{"command": "go version && go env GOOS", "description": "d"}),
		calls("WebFetch", map[string]any{"url": "https://example.com", "prompt": "Sum it up."}),
		calls("Task", map[string]any{"description": "d", "prompt": "Do it.", "subagent_type": "general-purpose"}),
		enginetest.Turn{Fault: enginetest.TooLong},
	)
	req := engine.Request{Role: engine.Author, Dir: enginetest.Worktree(t, map[string]string{"a.go": "package a\n"}), Timeout: await.Patience,
		IdleTimeout: await.Patience, Allow: []string{"go *"}}
	_, err := enginetest.Run(t.Context(), realEngine(t, p), req, prompt)
	wantClass(t, err, engine.ContextOverflow)
	models := map[string]int{}
	for _, call := range p.Calls() {
		var request struct{ Model string }
		if err := json.Unmarshal(call.Body, &request); err != nil {
			t.Fatal(err)
		}
		models[request.Model]++
	}
	// The fourth request was refused, and the ones after it are to make it shorter.
	if len(p.Calls()) < 5 || len(models) != 1 {
		t.Errorf("asked for %v in %d requests; want one model, and a summary", models, len(p.Calls()))
	}
}
