package engines_test

import (
	"os"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/session"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestEveryEngineHasItsName(t *testing.T) {
	t.Parallel()
	for _, name := range engines.Names() {
		e, err := engines.New(name, session.Program{Command: []string{os.Args[0]}})
		if err != nil || e.Name() != name {
			t.Errorf("the engine named %s is %v, %v", name, e, err)
		}
	}
}

func TestLoginsAreThoseOfTheConfiguredEngines(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]config.Engine{
		"ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN": {Name: "claude"},
		"ANTHROPIC_API_KEY CODEX_API_KEY OPENAI_API_KEY":                 {Name: "codex", Fallback: []string{"opencode:"}},
		"GEMINI_API_KEY":                  {Name: "acp"},
		"GEMINI_API_KEY GOOGLE_CLOUD_KEY": {Name: "acp", ACP: config.ACP{Variables: []string{"GOOGLE_CLOUD_KEY"}}},
		"GOOSE_KEY":                       {Name: "acp", ACP: config.ACP{Command: []string{"goose", "acp"}, Variables: []string{"GOOSE_KEY"}}},
	} {
		if got := strings.Join(engines.Logins(e), " "); got != want {
			t.Errorf("%s %q: %s; want %s", e.Name, e.Fallback, got, want)
		}
	}
}

func TestUnknownEngine(t *testing.T) {
	t.Parallel()
	if _, err := engines.New("parrot", session.Program{}); err == nil ||
		!strings.Contains(err.Error(), `"parrot"; engine.name must be one of acp, claude, codex, opencode`) {
		t.Errorf("error = %v", err)
	}
}
