package session_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
	"touchstone/worktree/await"
)

// waiter asks the provider twice, and the second time only after the session has reported the first refusal.
const waiter = `ask() {
	exec 3<>"/dev/tcp/${ADDRESS%:*}/${ADDRESS#*:}"
	printf 'POST /messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"model":"m"}' "$KEY" >&3
	cat <&3 >/dev/null
}
ask
until [ -e "$TOLD" ]; do sleep 0.02; done
ask
echo answered`

// TestWaitsAreReported of a CLI that says nothing of them, with the provider's reason and without the key.
func TestWaitsAreReported(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "7")
			http.Error(w, `{"error":{"message":"slow down, sk-secret"}}`, http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(provider.Close)
	told := filepath.Join(t.TempDir(), "told")
	var reports []string
	req := engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Timeout: await.Patience, IdleTimeout: await.Patience}
	req.Progress = func(p engine.Progress) {
		reports = append(reports, string(p.Kind)+" "+p.Text)
		if err := os.WriteFile(told, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	g, err := session.OpenGated(t.Context(), session.Program{Command: []string{"bash", "-c", waiter}, TempDir: t.TempDir()}, kind, req,
		&gateway.Provider{URL: provider.URL, Key: "sk-secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	url, key := g.Address()
	said := ""
	turn := g.Run(t.Context(), process.Command{
		Env:  []string{"ADDRESS=" + strings.TrimPrefix(url, "http://"), "KEY=" + key, "TOLD=" + told},
		Line: func(line []byte) error { said += string(line); return nil },
	}, nil)
	if turn.Stopped != nil || said != "answered" || asked.Load() != 2 {
		t.Fatalf("it said %q after %d requests: %v, %s", said, asked.Load(), turn.Stopped, turn.Stderr)
	}
	if want := "retry 429 slow down, [redacted] (refusal 1, told to wait 7s)"; len(reports) != 1 || reports[0] != want {
		t.Errorf("reported %q; want %q once", reports, want)
	}
}
