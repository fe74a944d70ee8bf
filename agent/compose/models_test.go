package compose

import (
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/verdict/decide"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// TestTheCommandIsOfTheEngineThatTheFileNames checks that the command is not used for an engine chosen
// elsewhere.
func TestTheCommandIsOfTheEngineThatTheFileNames(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Engine.Name, cfg.Engine.Command = "claude", []string{"/nowhere/claude-of-mine"}
	models := Models(config.NewLive(cfg, nil), t.TempDir())
	for name, mine := range map[string]bool{"claude": true, "codex": false, "opencode": false, "acp": false} {
		e, err := models.New(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Probe(t.Context())
		if got := err != nil && strings.Contains(err.Error(), "claude-of-mine"); got != mine {
			t.Errorf("%s is probed with the command: %v (%v)", name, got, err)
		}
	}
}

// TestTheAgentOfTheProtocolIsTheFiles checks that the engine acp uses the file's command also when the file selects
// another engine.
func TestTheAgentOfTheProtocolIsTheFiles(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Engine.ACP.Command = []string{"/nowhere/agent-of-mine", "--stdio"}
	e, err := Models(config.NewLive(cfg, nil), t.TempDir()).New("acp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "/nowhere/agent-of-mine cannot be run") {
		t.Errorf("probe = %v", err)
	}
}

func TestCheckModels(t *testing.T) {
	t.Parallel()
	fine := config.Default().Engine
	fine.Models.Trivial, fine.Fallback, fine.Off = "openrouter/x:free", []string{"sonnet", "codex:gpt-5"}, []string{"opencode:", "opus"}
	if err := CheckModels(fine, decide.Reviewer); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*config.Engine){
		"name":     func(e *config.Engine) { e.Name = "parrot" },
		"model":    func(e *config.Engine) { e.Models.Conflict = "parrot:polly" },
		"fallback": func(e *config.Engine) { e.Fallback = []string{"sonnet", "parrot:polly"} },
		"off":      func(e *config.Engine) { e.Off = []string{"parrot:"} },
	} {
		e := config.Default().Engine
		spoil(&e)
		if err := CheckModels(e, decide.Reviewer); err == nil || !strings.Contains(err.Error(), `"parrot"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What its engine calls otherwise is told to the role that needs it.
	e := config.Default().Engine
	e.Models.Fix = "opencode:gpt-5"
	if err := CheckModels(e, decide.Reviewer); err != nil {
		t.Errorf("what no review asks: %v", err)
	}
	if err := CheckModels(e, decide.Author); err == nil || !strings.Contains(err.Error(), "engine.models.fix") ||
		!strings.Contains(err.Error(), "openai/…") {
		t.Errorf("what a fix asks: %v", err)
	}
}

func TestACachePriceLeftOutIsThatOfInput(t *testing.T) {
	t.Parallel()
	one, two, three := 1.0, 2.0, 3.0
	if got, want := priced(config.Price{Input: &one, Output: &two}),
		(engine.Price{Input: 1, CacheWrite: 1, CacheRead: 1, Output: 2}); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	if got, want := priced(config.Price{Input: &one, CacheWrite: new(float64), CacheRead: &three, Output: &two}),
		(engine.Price{Input: 1, CacheRead: 3, Output: 2}); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
}
