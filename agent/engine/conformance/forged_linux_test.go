package conformance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
)

// forger tries to write into the standard output and error of each process above it, up to the session's reaper, as if the
// CLI had said it: an answer with a verdict could be forged so. In its own process namespace, it sees only itself.
const forger = `#!/bin/sh
above=$PPID
while [ "$above" -gt 1 ]; do
	command=$(tr '\0' ' ' <"/proc/$above/cmdline")
	case $command in *touchstone-reaper*) break ;; esac
	for fd in 1 2; do
		(printf '\nFORGED\n' >"/proc/$above/fd/$fd") 2>/dev/null
	done
	above=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$above/status")
done
echo THE END OF THE FORGERY
`

// testForged has an author run a command that pretends to be the CLI.
func testForged(t *testing.T, s subject) {
	enginetest.Confined(t)
	b := newBench(t, s, nil)
	program := filepath.Join(b.dir, "forger")
	enginetest.Program(t, program, forger)
	play(t, b, s.shell(program), enginetest.Turn{Text: []string{"Done."}})
	req := b.author(program)
	req.Progress = func(p engine.Progress) {
		if p.Kind == engine.ProgressRaw && strings.Contains(p.Text, "FORGED") {
			t.Errorf("a command printed in the CLI's name: %q", p.Text)
		}
	}
	if result := b.run(t, req); result.Text != "Done." || !strings.Contains(b.sent(), "THE END OF THE FORGERY") {
		t.Errorf("text = %q, or the command did not run", result.Text)
	}
}
