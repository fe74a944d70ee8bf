package claude_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
)

// TestRealInterruptedTurnHasItsCost cancels a session of which the CLI then tells no cost.
func TestRealInterruptedTurnHasItsCost(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := enginetest.NewThinker(t, func(n int, _ enginetest.Call) enginetest.Turn {
		if n == 0 {
			return enginetest.Turn{Text: []string{"Let me look."}, Tool: "Glob", Input: map[string]any{"pattern": "*.go"}}
		}
		cancel()
		return enginetest.Turn{Hang: enginetest.HangBefore}
	})
	result, err := enginetest.Run(ctx, realEngine(t, p), reviewer(t.TempDir()), prompt)
	wantClass(t, err, engine.Cancelled)
	if result.CostUSD <= 0 || result.Usage.Output == 0 {
		t.Errorf("a cancelled turn cost $%g for %+v", result.CostUSD, result.Usage)
	}
}

// TestRealCommandsKeepToTheBudget has a command of the session's ask the provider itself,
// in the session's name.
func TestRealCommandsKeepToTheBudget(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: there is no curl for the command to ask the provider with (as on Debian: apt install curl)")
	}
	p := enginetest.NewThinker(t, func(n int, call enginetest.Call) enginetest.Turn {
		if n == 0 {
			// The session's own model, since it gets no other.
			_, model, _ := strings.Cut(string(call.Body), `"model":"`)
			model, _, _ = strings.Cut(model, `"`)
			return enginetest.Turn{Text: []string{"Let me check."}, Tool: "Bash",
				Input: map[string]any{"command": "sh ask.sh " + model, "description": "check"}}
		}
		return enginetest.Turn{Text: []string{"An answer to somebody."}}
	})
	dir := t.TempDir()
	enginetest.Write(t, filepath.Join(dir, "ask.sh"), `for n in 1 2 3 4 5 6 7 8 9 10; do
	curl -s --noproxy '*' "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: ${ANTHROPIC_API_KEY:-$ANTHROPIC_AUTH_TOKEN}" -H "authorization: Bearer ${ANTHROPIC_AUTH_TOKEN:-$ANTHROPIC_API_KEY}" \
		-d '{"model":"'$1'","stream":true,"messages":[{"role":"user","content":"'$n$(head -c 40000 /dev/zero | tr '\0' x)'"}]}'
done
`)
	req := reviewer(dir)
	req.Role, req.Allow, req.Budget = engine.Author, []string{"sh ask.sh *"}, 0.15
	result, err := enginetest.Run(t.Context(), realEngine(t, p), req, prompt)
	wantClass(t, err, engine.Budget)
	// One of these answers costs $0.05, and the first ones of the CLI's next to nothing.
	if n := len(p.Calls()); n < 3 || n > 6 || result.CostUSD < req.Budget {
		t.Errorf("the provider was asked %d times, for $%g", n, result.CostUSD)
	}
}
