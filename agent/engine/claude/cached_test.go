package claude_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"touchstone/agent/engine/enginetest"
)

// system is what a request tells the model before its first message.
type system struct {
	Tools  json.RawMessage `json:"tools"`
	System []struct {
		Text  string          `json:"text"`
		Cache json.RawMessage `json:"cache_control"`
	} `json:"system"`
}

// TestRealInstructionsAreCachedAcrossSessions: of two sessions in different worktrees all of
// the tools and the system prompt, up to the last mark, is the same, which is what a provider
// reads from its cache for as long as it lives
// (https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
func TestRealInstructionsAreCachedAcrossSessions(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"ok"}}, enginetest.Turn{Text: []string{"ok"}})
	instructions := strings.Repeat("Row by row. ", 4000)
	var sent []system
	for range 2 {
		req := reviewer(worktree(t, map[string]string{"a.go": "package a\n"}))
		req.Instructions = instructions
		if _, err := enginetest.Run(context.Background(), realEngine(t, p), req, prompt); err != nil {
			t.Fatal(err)
		}
		var s system
		if err := json.Unmarshal(p.Calls()[len(p.Calls())-1].Body, &s); err != nil || len(s.System) == 0 {
			t.Fatalf("%d blocks, %v", len(s.System), err)
		}
		sent = append(sent, s)
	}
	marked, cached, all := 0, 0, 0
	same := string(sent[0].Tools) == string(sent[1].Tools)
	for i, block := range sent[1].System {
		all += len(block.Text)
		same = same && i < len(sent[0].System) && sent[0].System[i].Text == block.Text
		marked += len(block.Text)
		if same && len(block.Cache) > 0 {
			cached = marked
		}
	}
	if all < len(instructions) || float64(cached) < 0.9*float64(all) {
		t.Errorf("%d of %d bytes are read from the cache", cached, all)
	}
}
