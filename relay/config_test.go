package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A mistake is told with its line in the file, wherever it is, and in words of YAML.
func TestConfigMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"listen: 127.0.0.1:0\nretention: 5": "line 2: retention: it takes a time, such as 720h or 30d",
		"retention: soon":                   "line 1: retention: it takes a time, such as 720h or 30d",
		"retention: [1h]":                   "line 1: retention: it takes a time, such as 720h or 30d",
		"listen: {a: b}":                    "line 1: listen: it takes a text",
		"recover: acme/app":                 "line 1: recover: it takes a list, such as [a, b]",
		"sources: 5":                        "line 1: sources: it takes settings of its own, as key: value",
		"sources:\n  a: 5":                  "line 2: a: it takes settings of its own, as key: value",
		"sources:\n  a:\n    kind: github\n  b:\n    kind: generic\n    hedaer: X-Sig": `line 6: unknown field "hedaer"`,
		"sources:\n  a:\n    kind: generic\n    header: [X-Sig]":                       "line 4: header: it takes a text",
		"sources:\n  a:\n    kind: github\n    secret_env: {b: c}":                     "line 4: secret_env: it takes a text",
		"sources:\n  a:\n    kind: gitlab": `line 3: the kind of a source is generic, github, ` +
			`grafana or standard, not "gitlab"`,
		"listen: [": "line 1: listen: sequence end token ']' not found",
	} {
		config := defaultConfig()
		if err := config.decode([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	config := defaultConfig()
	if err := config.decode([]byte("retention: &r 5h\npublic_url: *r")); err != nil || config.Retention != span(5*time.Hour) {
		t.Errorf("the retention is %s, %v", config.Retention, err)
	}
	large := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(large, []byte("listen: a:1\n#"+strings.Repeat(" ", maxConfigBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := config.load(large); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("of a large file only the beginning was read: %v", err)
	}
}

// Whatever stands in a configuration, reading it ends in settings or in an error, and
// no error tells a secret.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "listen: 127.0.0.1:0\nretention: 1h\nallow_unsigned: [github]\n",
		"sources:\n  github:\n    kind: github\n    secret_env: [NEW, OLD]\n",
		"sources: {a: {kind: grafana, auth: basic, user: u, secret_env: NEW}, b: {kind: standard, secret_env: NEW}}",
		"sources: {ci: {kind: generic, header: X-Sig, prefix: v1=, hash: sha512, secret_env: NEW}}",
		"sources: {a: }", "allow_unsigned: [a]\nsources: {a: }", "sources: {a: {kind: {}}}", "sources: [a]", "a: &a [*a]", "? {}",
		"sources: {a: {kind: github, secret_env: {b: c}}}",
	} {
		f.Add(seed)
	}
	const secret = "bm8gc2VjcmV0IGF0IGFsbCwgYnV0IGxvbmc="
	f.Setenv("NEW", secret)
	f.Setenv("OLD", secret)
	f.Fuzz(func(t *testing.T, text string) {
		config := defaultConfig()
		err := config.decode([]byte(text))
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
