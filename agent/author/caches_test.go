package author_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// TestNothingCachedReachesAnotherVerify has each verify command leave its name in Go's build
// cache, the session leave its own in the session's, and looks what the commands found there.
func TestNothingCachedReachesAnotherVerify(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	g := loopback.New(t, map[string]string{
		"who.txt": "base\n",
		".touchstone/config.yaml": "verify:\n  command: [sh, -c, 'cd \"$GOCACHE\" && found=$(ls) && echo $found > found && echo x > \"$(cat " +
			"\"$OLDPWD/who.txt\")\"']\n",
	})
	fix := func(branch string) string {
		t.Helper()
		g.Commit(branch, "Add code", map[string]string{"who.txt": branch + "\n", "code.txt": "unsafe()\n"})
		pr := g.Reviewed(g.Open(branch), verdict.RequestChanges, finding)
		var dir string
		edit := func(asked loopback.Asked) (string, error) {
			dir = asked.Dir
			if err := os.WriteFile(filepath.Join(asked.Dir, "code.txt"), []byte("safe()\n"), 0o600); err != nil {
				return "", err
			}
			own := filepath.Join(session.Caches(dir, session.ForSession), "go-build")
			if err := os.MkdirAll(own, 0o700); err != nil {
				return "", err
			}
			return reading.Repaired(asked.Prompt), os.WriteFile(filepath.Join(own, "session of "+branch), nil, 0o600)
		}
		if _, err := newAuthor(g, edit).Fix(t.Context(), pr, verdict.Allowance{}, nil); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	found := func(dir string) []string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(session.Caches(dir, session.ForVerify), "go-build", "found"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
	first := fix("first")
	second := fix("second")
	for branch, dir := range map[string]string{"first": first, "second": second} {
		if names := found(dir); !slices.Equal(names, []string{"base", "found"}) {
			t.Errorf("the verify command of %s found what %q left, want the base's alone", branch, names)
		}
		if entries, err := os.ReadDir(filepath.Join(session.Caches(dir, session.ForSession), "go-build")); err != nil || len(entries) != 3 {
			t.Errorf("the session of %s has %v, %v; want what the base and itself left", branch, entries, err)
		}
	}
}
