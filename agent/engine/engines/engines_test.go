package engines_test

import (
	"os"
	"strings"
	"testing"

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

func TestUnknownEngine(t *testing.T) {
	t.Parallel()
	if _, err := engines.New("parrot", session.Program{}); err == nil ||
		!strings.Contains(err.Error(), `"parrot"; engine.name is one of acp, claude, codex, opencode`) {
		t.Errorf("error = %v", err)
	}
}
