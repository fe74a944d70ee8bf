package conformance_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/guidelines"
)

// testCacheAcrossSessions: what comes before the conversation is read from the provider's cache by
// the next review, of another change in another worktree, by the provider's rules; as long as the
// cache lives.
func testCacheAcrossSessions(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"ok"}})
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	shared := func(prompt string) float64 {
		b.dir = enginetest.Worktree(t, answerFiles)
		req := b.reviewer()
		req.ReadDirs = []string{t.TempDir()}
		req.Instructions = guidelines.ReviewerInstructions() + rules.RenderAll()
		before := len(b.provider.Calls())
		if _, err := enginetest.Run(context.Background(), b.engine, req, prompt); err != nil {
			t.Fatal(err)
		}
		// A CLI may ask something of its own besides.
		call := slices.MaxFunc(b.provider.Calls()[before:], func(a, b enginetest.Call) int { return int(a.Standing - b.Standing) })
		if call.Standing < int64(len(req.Instructions)/5) {
			t.Fatalf("only %d tokens stand before the conversation", call.Standing)
		}
		t.Logf("%d tokens stand before the conversation, %d of the request are read from the cache", call.Standing, call.Usage.CacheRead)
		return float64(call.Usage.CacheRead) / float64(call.Standing)
	}
	if first := shared("Review the first change."); first != 0 {
		t.Errorf("the first review reads %.0f %% from an empty cache", 100*first)
	}
	if second := shared("Review another change, of which nothing is known."); second < 0.9 {
		t.Errorf("the second review reads %.0f %% of what stands before its conversation from the cache", 100*second)
	}
	b.provider.Pass(6 * time.Minute)
	if late := shared("Review a third one."); late != 0 {
		t.Errorf("a cache that is gone gives %.0f %%", 100*late)
	}
}

// testEffort: how much the model is to think reaches the provider, in each level that the engine
// says it passes on; and one that it does not know is left out.
func testEffort(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"ok"}})
	thinker, ok := b.engine.(engine.Thinker)
	if !ok {
		t.Skip("the engine knows no levels")
	}
	asked := func(level string) string {
		req := b.reviewer()
		req.Effort = level
		before := len(b.provider.Calls())
		if _, err := enginetest.Run(context.Background(), b.engine, req, "Say ok."); err != nil {
			t.Fatalf("%s: %v", level, err)
		}
		var said struct {
			Output    struct{ Effort string } `json:"output_config"` // Messages
			Reasoning struct{ Effort string } // Responses
			Chat      string                  `json:"reasoning_effort"`
		}
		calls := b.provider.Calls()[before:]
		if err := json.Unmarshal(calls[len(calls)-1].Body, &said); err != nil {
			t.Fatal(err)
		}
		return strings.Join([]string{said.Output.Effort, said.Reasoning.Effort, said.Chat}, "")
	}
	levels := thinker.Efforts()
	for _, level := range []string{levels[0], levels[len(levels)-1]} {
		if got := asked(level); got != level {
			t.Errorf("the provider is asked for the effort %q instead of %q", got, level)
		}
	}
	if plain, unknown := asked(""), asked("enormous"); plain != unknown {
		t.Errorf("a level that there is none of changes %q to %q", plain, unknown)
	}
}
