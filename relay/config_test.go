package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/worktree/span"
	"touchstone/worktree/strictyaml"
)

// A mistake is reported with its line in the file, wherever it is, and in terms of YAML.
func TestConfigMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"listen: 127.0.0.1:0\nretention: 5": "line 2:12: retention: it takes a time, such as 90s, 36h or 30d",
		"retention: soon":                   "line 1:12: retention: it takes a time, such as 90s, 36h or 30d",
		"retention: [1h]":                   "line 1:12: retention: it takes a time, such as 90s, 36h or 30d",
		"listen: {a: b}":                    "line 1:9: listen: it takes a text",
		"recover: acme/app":                 "line 1:10: recover: it takes a list, such as [a, b]",
		"sources: 5":                        "line 1:10: sources: it takes settings of its own, as key: value",
		"sources:\n  a: 5":                  "line 2:6: a: it takes settings of its own, as key: value",
		"sources:\n  a:\n    kind: github\n  b:\n    kind: generic\n    hedaer: X-Sig": "" +
			`line 6:5: unknown field "hedaer", did you mean "header"?`,
		"sources:\n  a:\n    kind: generic\n    header: [X-Sig]":   "line 4:13: header: it takes a text",
		"sources:\n  a:\n    kind: github\n    secret_env: {b: c}": "line 4:17: secret_env: it takes a text",
		"sources:\n  a:\n    kind: github\n    secret_env: 1.20": "" +
			"line 4:17: secret_env: it takes a text, and this is read as another one; put it in quotes",
		"sources:\n  a:\n    kind: github\n    secret_file: [a, 0x10]": "" +
			"line 4:22: it takes a text, and this is read as another one; put it in quotes",
		"sources:\n  a:\n    kind: gitlab": `line 3:9: the kind of a source must be generic, github, ` +
			`grafana or standard, not "gitlab"`,
		"retntion: 5h\nlisten: 5\nsources:\n  a:\n    kind: generic\n    hedaer: X-Sig\n    header: [X-Sig]\n  b: {kind: gitlab}": "" +
			`line 1:1: unknown field "retntion", did you mean "retention"?; line 6:5: unknown field "hedaer", did you mean "header"?; ` +
			`line 7:13: header: it takes a text; line 8:6: b: the kind of a source must be generic, github, grafana or standard, not "gitlab"`,
		"listen: [": "line 1:9: listen: sequence end token ']' not found",
	} {
		config := defaultConfig()
		if err := strictyaml.Decode([]byte(text), &config); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	config := defaultConfig()
	err := strictyaml.Decode([]byte("retention: &r 5h\npublic_url: *r"), &config)
	if err != nil || config.Retention != span.Duration(5*time.Hour) {
		t.Errorf("the retention is %s, %v", config.Retention, err)
	}
	large := filepath.Join(t.TempDir(), "relay.yaml")
	must(t, os.WriteFile(large, []byte("listen: a:1\n#"+strings.Repeat(" ", maxConfigBytes)), 0o600))
	if err := config.load(large); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("of a large file only the beginning was read: %v", err)
	}
}

// A domain without an address is refused if the network says so. Without a network the address is unknown.
func TestDomainWithoutAnAddress(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		says string
	}{
		"unknown":    {&net.DNSError{Err: "no such host", IsNotFound: true}, "relay.acme.dev has no address"},
		"no network": {&net.DNSError{Err: "server misbehaving", IsTemporary: true}, ""},
		"known":      {nil, ""},
	} {
		lookup := func(_ context.Context, domain string) ([]string, error) { return []string{"192.0.2.1"}, test.err }
		err := resolves(t.Context(), lookup, "relay.acme.dev")
		if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A domain that points at another machine is reported with its address, because no certificate could be
// issued for it.
func TestDomainThatPointsElsewhere(t *testing.T) {
	local := []net.Addr{&net.IPNet{IP: net.IPv4(198, 51, 100, 4)}, &net.IPNet{IP: net.ParseIP("2001:db8::4")}}
	for name, test := range map[string]struct {
		domain string
		hosts  []string
		says   string
	}{
		"here":              {"relay.acme.dev", []string{"198.51.100.4"}, ""},
		"one of two":        {"relay.acme.dev", []string{"192.0.2.1", "2001:db8::4"}, ""},
		"elsewhere":         {"relay.acme.dev", []string{"192.0.2.1", "192.0.2.2"}, "at 192.0.2.1 and 192.0.2.2, which is not an address"},
		"no domain":         {"", []string{"192.0.2.1"}, ""},
		"it has no address": {"relay.acme.dev", nil, ""},
	} {
		said := pointsElsewhere(t.Context(), func(context.Context, string) ([]string, error) {
			if test.hosts == nil {
				return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
			}
			return test.hosts, nil
		}, local, test.domain)
		if !strings.Contains(said, test.says) || test.says == "" && said != "" {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// A proxy is found in whatever form its address is written.
func TestTrustedProxies(t *testing.T) {
	config := Config{TrustedProxies: []string{"10.0.0.7", "::ffff:10.0.0.8", "10.1.2.3/16", "2001:db8::7"}}
	got, err := config.proxies()
	if want := "[10.0.0.7/32 10.0.0.8/32 10.1.0.0/16 2001:db8::7/128]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

// Without an embedded store, the page's file is in a directory whose name nobody else on the machine can guess, that
// only the relay's user can enter, and of which nothing stays.
func TestThePagesFileOfASharedStoreIsOutOfOthersReach(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // of Windows
	config := defaultConfig()
	config.Store = "firestore:acme"
	var seen []string
	for range 2 {
		path, remove, err := config.pageFile()
		must(t, err)
		dir := filepath.Dir(path)
		info, err := os.Stat(dir)
		if err != nil || filepath.Dir(dir) != temporary || slices.Contains(seen, dir) ||
			runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("the file is %s in %v, %v; before it was in %q", path, info, err, seen)
		}
		seen = append(seen, dir)
		must(t, os.WriteFile(path, nil, 0o600))
		must(t, remove())
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// A relay that is killed leaves the page's file. The next one removes it, and leaves alone what a living relay has and what is
// no relay's.
func TestThePagesFileOfAKilledRelayIsRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // of Windows
	old := time.Now().Add(-time.Hour)
	made := func(name string, files ...string) string {
		dir := filepath.Join(temporary, name)
		must(t, os.Mkdir(dir, 0o700))
		for _, file := range files {
			must(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
		}
		must(t, os.Chtimes(dir, old, old))
		return dir
	}
	killed := made("touchstone-relay-1", "lock", "page", "page-wal")
	foreign, unlocked := made("acme-1", "lock"), made("touchstone-relay-2", "page")
	config := defaultConfig()
	config.Store = "firestore:acme"
	living, remove, err := config.pageFile()
	must(t, err)
	must(t, os.Chtimes(filepath.Dir(living), old, old))
	_, removeSecond, err := config.pageFile()
	must(t, err)
	for dir, stays := range map[string]bool{killed: false, foreign: true, unlocked: true, filepath.Dir(living): true} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v, want that it stays: %v", dir, err, stays)
		}
	}
	must(t, remove())
	must(t, removeSecond())
}

// Reading any configuration ends in settings or in an error, and no error contains a secret.
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
		err := strictyaml.Decode([]byte(text), &config)
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

func TestShortSecretsAreNamed(t *testing.T) {
	for secret, want := range map[string]int{"15 characters..": 1, "16 characters...": 0, "": 0} {
		t.Setenv("RELAY_GITHUB_SECRET", secret)
		if names := (Config{}).short(); len(names) != want {
			t.Errorf("with %q the sources with a short secret are %v", secret, names)
		}
	}
}
