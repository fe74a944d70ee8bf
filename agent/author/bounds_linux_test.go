package author_test

import (
	"errors"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

// TestAVerifyCommandThatTakesTooMuchFailsAlone has verify commands take more memory, or start more
// processes, than the settings allow: the fix is not verified, and says why.
func TestAVerifyCommandThatTakesTooMuchFailsAlone(t *testing.T) {
	t.Parallel()
	for why, command := range map[string]string{
		// It fills its block once, and then waits for who does not read.
		"used more than their limit of 0.2 GB of memory":    `dd if=/dev/zero bs=300M count=1 | sleep 3600`,
		"exceeded their limit of 200 processes and threads": `f() { [ $1 = 0 ] && exec sleep 3600; f $(($1-1)) & f $(($1-1)) & wait; }; f 8`,
	} {
		g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [sh, -c, '" +
			strings.ReplaceAll(command, "'", "''") + "']\n"})
		g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
		pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
		a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
		a.Settings = func() config.Engine { return config.Engine{Sandbox: config.Auto, MaxMemoryGB: 0.2, MaxProcesses: 200} }
		_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
		if !errors.Is(err, author.ErrUnverified) || !strings.Contains(err.Error(), why) {
			t.Errorf("it ends in %v; want it to say %q", err, why)
		}
	}
}
