package acp

import (
	"testing"

	"touchstone/agent/engine/session"
)

// TestOnlyLoginsAreRedacted: a number of tokens is none, and no part of a login is left.
func TestOnlyLoginsAreRedacted(t *testing.T) {
	t.Parallel()
	p := session.Program{
		Variables: []string{"MAX_TOKENS", "SHORT_KEY", "LONG_KEY"},
		Environ:   []string{"MAX_TOKENS=4", "SHORT_KEY=sk-secret", "LONG_KEY=sk-secret-5678"},
	}
	c := &conversation{Gated: &session.Gated{}, secrets: secrets(p)}
	if got := c.Redact("status 429 for sk-secret-5678 and sk-secret"); got != "status 429 for [redacted] and [redacted]" {
		t.Errorf("got %q", got)
	}
}
