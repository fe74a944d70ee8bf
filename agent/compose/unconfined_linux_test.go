package compose

import (
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
)

// TestNoSessionWithoutARequiredSandbox checks that without a sandbox no session runs that requires one, and
// no agent starts.
func TestNoSessionWithoutARequiredSandbox(t *testing.T) {
	if !enginetest.Unconfined(t) {
		return
	}
	for setting, refused := range map[string]bool{config.Auto: false, config.Off: false, config.Required: true} {
		cfg := config.Default()
		cfg.Engine.Name, cfg.Engine.Command, cfg.Engine.Sandbox = "codex", []string{"/nowhere/codex"}, setting
		models := Models(config.NewLive(cfg, nil), t.TempDir())
		_, probed := models.Probe(t.Context())
		_, opened := models.Open(t.Context(), engine.Request{Role: engine.Reviewer, Dir: t.TempDir()})
		for what, err := range map[string]error{"started": probed, "a session": opened} {
			if got := err != nil && strings.Contains(err.Error(), "set engine.sandbox to auto"); got != refused {
				t.Errorf("%s, %s: %v", setting, what, err)
			}
		}
	}
}
