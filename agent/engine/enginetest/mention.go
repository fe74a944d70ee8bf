package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine"
)

// WantNoMentions has the engine answer a prompt that names files outside of the session's
// directory in the ways in which people have a CLI read them, and wants none of them sent to
// the provider: what a prompt says is not all ours.
func WantNoMentions(t testing.TB, e engine.Engine, p *Provider, req engine.Request) {
	t.Helper()
	const secret = "SECRET-THAT-IS-MENTIONED"
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	near, err := filepath.Rel(req.Dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	prompt := fmt.Sprintf("Look at @%[1]s and @%[2]s, @\"%[1]s\" @file:%[1]s [x](%[1]s) <file://%[1]s>\n@%[1]s\n!`cat %[1]s`\n#%[1]s "+
		"${file:%[1]s} @%[1]s#L1-2", outside, near)
	if _, err := Run(t.Context(), e, req, prompt); err != nil {
		t.Fatal(err)
	}
	calls := p.Calls()
	if len(calls) == 0 || !strings.Contains(string(calls[0].Body), outside) {
		t.Fatal("the prompt did not reach the provider, so that this test shows nothing")
	}
	for _, call := range calls {
		if strings.Contains(string(call.Body), secret) {
			t.Error("a file that the prompt only names was sent to the provider")
		}
	}
}
