package author_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/verdict"
)

// Where nothing confines a command of the repository's, one that has to be confined does not run.
func TestFixRunsNothingWithoutARequiredSandbox(t *testing.T) {
	if !enginetest.Unconfined(t) {
		return
	}
	for setting, runs := range map[string]bool{config.Auto: true, config.Required: false} {
		canary := filepath.Join(t.TempDir(), "canary")
		g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [sh, -c, 'echo > " + canary + "']\n"})
		g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
		pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
		a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
		a.Settings = func() config.Engine { return config.Engine{Sandbox: setting} }
		_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
		var stopped *engine.Error
		switch {
		case runs && err != nil:
			t.Errorf("%s: %v", setting, err)
		case !runs && (!errors.As(err, &stopped) || stopped.Class != engine.Invalid || errors.Is(err, author.ErrUnverified) ||
			!strings.Contains(err.Error(), "set engine.sandbox to auto")):
			t.Errorf("%s: it ends in %v; want one of class %s that says what to do", setting, err, engine.Invalid)
		}
		if _, err := os.Stat(canary); (err == nil) != runs {
			t.Errorf("%s: the command has run: %t", setting, err == nil)
		}
	}
}
