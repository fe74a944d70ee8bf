package acp_test

import (
	"os"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/acp"
	"touchstone/agent/engine/enginetest"
)

// gemini is an engine of the real CLI, which asks a scripted provider.
func gemini(t *testing.T, p *enginetest.Provider) *acp.Engine {
	t.Helper()
	return &acp.Engine{
		Command: []string{enginetest.CLI(t, "gemini"), "--acp"}, TempDir: t.TempDir(), Confine: true,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + p.URL},
	}
}

func TestRealMentions(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"ok"}})
	req := request(engine.Reviewer, t.TempDir())
	req.Model = "gemini-2.5-pro"
	enginetest.WantNoMentions(t, gemini(t, p), p, req)
}

// TestRealProbe also has a session without a model, which would ask several.
func TestRealProbe(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"never"}})
	e := gemini(t, p)
	version, err := e.Probe(t.Context())
	if err != nil || !strings.HasPrefix(version.Number, "gemini-cli ") || version.Provider != p.URL || version.Direct != "" {
		t.Errorf("probe = %+v, %v", version, err)
	}
	if _, err := e.Open(t.Context(), request(engine.Reviewer, t.TempDir())); err == nil || !strings.Contains(err.Error(), "set engine.model") {
		t.Errorf("without a model: %v", err)
	}
	if len(p.Calls()) > 0 {
		t.Error("the provider was asked")
	}
}
