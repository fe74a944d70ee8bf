package session_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/session"
)

var kind = session.Kind{Name: "cli", Package: "cli-package", Login: "log in", Variables: []string{"CLI_*"}}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Parallel()
	home, err := session.NewHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := session.Program{Environ: []string{
		"PATH=" + strings.Join([]string{".", "/bin", "", "node_modules/.bin", "/sbin", ""}, string(filepath.ListSeparator)), "LC_ALL=C",
		"HTTPS_PROXY=http://proxy", "http_proxy=octocat:s@/secret@proxy:1", "GOPROXY=https://octocat:secret@a.example/x,http://b.example|https://secret@c.example,direct", "GOFLAGS=-mod=mod", "CLI_SETTING=x", "HOME=/home/octocat",
		"GITHUB_TOKEN=secret", "OPENAI_API_KEY=secret", "ANTHROPIC_API_KEY=secret", "AWS_SECRET_ACCESS_KEY=secret", "SSH_AUTH_SOCK=secret",
		"NODE_OPTIONS=--require=secret", "LD_PRELOAD=secret", "GIT_ASKPASS=secret", "TOUCHSTONE_X=secret", "no equals sign",
	}}
	env := p.Environment(kind, home)
	if all := strings.Join(env, "\n"); strings.Contains(all, "secret") || strings.Contains(all, "octocat") || strings.Contains(all, "no equals") {
		t.Errorf("environment = %s", all)
	}
	for _, want := range []string{
		"PATH=/bin" + string(filepath.ListSeparator) + "/sbin", "LC_ALL=C",
		"HTTPS_PROXY=http://proxy", "http_proxy=proxy:1", "GOPROXY=https://a.example/x,http://b.example|https://c.example,direct", "GOFLAGS=-mod=mod", "CLI_SETTING=x", "HOME=" + home.Dir,
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

// TestPathOfTheCheckoutAlone: an empty PATH is the working directory.
func TestPathOfTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	for _, entry := range session.Commands([]string{"PATH=.:bin"}, "/home", "/tmp") {
		if strings.HasPrefix(entry, "PATH=") {
			t.Errorf("there is %q", entry)
		}
	}
}

func TestTimeOfAllTurns(t *testing.T) {
	t.Parallel()
	b, err := session.Open(session.Program{TempDir: t.TempDir()}, kind, engine.Request{Role: engine.Reviewer, Dir: ".", Timeout: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Ready("a prompt"); err != nil || b.Left() != time.Nanosecond {
		t.Errorf("before the first turn: %v, %s left", err, b.Left())
	}
	if err := b.Ready(" "); err == nil {
		t.Error("an empty prompt was accepted")
	}
	if err := b.Home.Write("deep/down/file", []byte("x")); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(filepath.Join(b.Home.Dir, "deep", "down", "file")); err != nil || string(content) != "x" {
		t.Errorf("%q, %v", content, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(b.Home.Dir); err == nil {
		t.Error("the home is still there")
	}
	if err := b.Ready("a prompt"); err == nil {
		t.Error("a closed session was ready")
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	if failure := kind.Failure(engine.Auth, "no key"); failure.Message != "the provider refused cli's login, or there is none; log in (cli: no key)" {
		t.Errorf("message = %s", failure.Message)
	}
	if failure := kind.Failure(engine.BadOutput, ""); failure.Message != "cli did not complete the session" || failure.Class != engine.BadOutput {
		t.Errorf("failure = %+v", failure)
	}
}

func TestVersionsThatAreTooOld(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program of this test is one for a Unix shell")
	}
	old := kind
	old.Least = "2.10.3"
	for number, fits := range map[string]bool{"2.10.3": true, "2.11.0-beta.1": true, "3.0.0": true, "2.10.2": false, "2.9.9": false, "1.99.99": false} {
		program := filepath.Join(t.TempDir(), "cli")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho cli "+number+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		version, err := session.Program{Command: []string{program}, TempDir: t.TempDir()}.Probe(t.Context(), old)
		if version.Number != number || (err == nil) != fits {
			t.Errorf("%s: %+v, %v", number, version, err)
		}
		if err != nil && !strings.Contains(err.Error(), `update it with "npm install -g cli-package@latest"`) {
			t.Errorf("no remedy: %v", err)
		}
	}
}

func TestKeysAreRedacted(t *testing.T) {
	t.Parallel()
	for _, direct := range []bool{true, false} {
		p := session.Program{Direct: direct, TempDir: t.TempDir()}
		g, err := session.OpenGated(t.Context(), p, kind, engine.Request{Role: engine.Reviewer, Dir: "."}, &gateway.Provider{URL: "http://127.0.0.1:9", Key: "sk-secret"})
		if err != nil {
			t.Fatal(err)
		}
		url, key := g.Address()
		if shown := key == "sk-secret"; shown != direct || (url == "http://127.0.0.1:9") != direct {
			t.Errorf("direct: %t, but the CLI gets %s and %s", direct, url, key)
		}
		if got := g.Redact("it said sk-secret and " + key); strings.Contains(got, "sk-secret") || strings.Contains(got, key) {
			t.Errorf("redacted to %q", got)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}
