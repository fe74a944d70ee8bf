package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine"
)

// WantNoMentions asks the engine a prompt that names files outside the session's directory in all the ways by
// which people make a CLI read files. None of them may be sent to the provider: parts of a prompt are foreign
// text.
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
