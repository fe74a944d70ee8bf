package main

import (
	"strings"
	"testing"
)

// Whatever stands in a configuration, reading it ends in settings or in an error, and
// no error tells a secret.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "listen: 127.0.0.1:0\nretention: 1h\nallow_unsigned: [github]\n",
		"sources:\n  github:\n    kind: github\n    secret_env: [NEW, OLD]\n",
		"sources: {a: {kind: grafana, auth: basic, user: u, secret_env: NEW}, b: {kind: standard, secret_env: NEW}}",
		"sources: {ci: {kind: generic, header: X-Sig, prefix: v1=, hash: sha512, secret_env: NEW}}",
		"sources: {a: }", "allow_unsigned: [a]\nsources: {a: }", "sources: {a: {kind: {}}}", "sources: [a]", "a: &a [*a]", "? {}", "sources: {a: {kind: github, secret_env: {b: c}}}",
	} {
		f.Add(seed)
	}
	const secret = "bm8gc2VjcmV0IGF0IGFsbCwgYnV0IGxvbmc="
	f.Setenv("NEW", secret)
	f.Setenv("OLD", secret)
	f.Fuzz(func(t *testing.T, text string) {
		config := defaultConfig()
		err := config.decode(strings.NewReader(text))
		if err == nil {
			err = config.validate()
		}
		if err == nil {
			_, err = config.sources()
		}
		if err != nil && !strings.Contains(text, secret) && strings.Contains(err.Error(), secret) {
			t.Errorf("the error gives a secret away: %v", err)
		}
	})
}
