package session_test

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/session"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var kind = session.Kind{Name: "cli", Package: "cli-package", Login: "log in", Variables: []string{"CLI_*"}}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Parallel()
	home, err := session.NewHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := session.Program{Environ: []string{
		"PATH=" + strings.Join([]string{".", "/bin", "", "node_modules/.bin", "/sbin", ""}, string(filepath.ListSeparator)), "LC_ALL=C",
		"HTTPS_PROXY=http://proxy", "http_proxy=octocat:s@/secret@proxy:1",
		"GOPROXY=https://octocat:secret@a.example/x,http://b.example|https://secret@c.example/a@b,file:///home/a@b/c,direct", "GOFLAGS=-mod=mod",
		"CLI_SETTING=x", "HOME=/home/octocat",
		"GITHUB_TOKEN=secret", "OPENAI_API_KEY=secret", "ANTHROPIC_API_KEY=secret", "AWS_SECRET_ACCESS_KEY=secret", "SSH_AUTH_SOCK=secret",
		"NODE_OPTIONS=--require=secret", "LD_PRELOAD=secret", "GIT_ASKPASS=secret", "TOUCHSTONE_X=secret", "no equals sign",
	}}
	env := p.Environment(kind, home, filepath.Join(home.Dir, "repository", "tree"))
	if all := strings.Join(env, "\n"); strings.Contains(all, "secret") || strings.Contains(all, "octocat") ||
		strings.Contains(all, "no equals") {
		t.Errorf("environment = %s", all)
	}
	for _, want := range []string{
		"PATH=/bin" + string(filepath.ListSeparator) + "/sbin", "LC_ALL=C",
		"HTTPS_PROXY=http://proxy", "http_proxy=proxy:1",
		"GOPROXY=https://a.example/x,http://b.example|https://c.example/a@b,file:///home/a@b/c,direct", "GOFLAGS=-mod=mod", "CLI_SETTING=x",
		"HOME=" + home.Dir,
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

// TestDirectSessionsSaySo: that is not for each of them, but has to be seen without asking for
// details.
func TestDirectSessionsSaySo(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := zerolog.New(&log).Level(zerolog.InfoLevel).WithContext(t.Context())
	direct := session.Kind{Name: "direct-" + rand.Text()}
	for range 2 {
		s, err := session.OpenGated(ctx, session.Program{TempDir: t.TempDir(), Direct: true}, direct,
			engine.Request{Role: engine.Reviewer, Dir: "."}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if said := strings.Count(log.String(), "not through the gateway"); said != 1 {
		t.Errorf("it is said %d times: %s", said, log.String())
	}
}

// TestModulesOfTheUser builds a command of a repository that needs a module which this user has
// downloaded and nobody else knows: it is found, and the user's own files stay as they are.
func TestModulesOfTheUser(t *testing.T) {
	t.Parallel()
	user, root := t.TempDir(), t.TempDir()
	versions := filepath.Join(user, "cache", "download", "example.invalid", "dep", "@v")
	dir := filepath.Join(root, "tree")
	archive := &bytes.Buffer{}
	packed := zip.NewWriter(archive)
	for name, content := range map[string]string{"go.mod": "module example.invalid/dep\n", "dep.go": "package dep\n\nconst Answer = 42\n"} {
		file, err := packed.Create("example.invalid/dep@v1.0.0/" + name)
		if err == nil {
			_, err = io.WriteString(file, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		filepath.Join(versions, "list"): "v1.0.0\n", filepath.Join(versions, "v1.0.0.info"): `{"Version":"v1.0.0"}`,
		filepath.Join(versions, "v1.0.0.mod"): "module example.invalid/dep\n", filepath.Join(versions, "v1.0.0.zip"): archive.String(),
		filepath.Join(dir, "go.mod"):  "module acme\n\nrequire example.invalid/dep v1.0.0\n",
		filepath.Join(dir, "main.go"): "package main\n\nimport \"example.invalid/dep\"\n\nfunc main() { println(dep.Answer) }\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, user)
	home := t.TempDir()
	// Else the go command leaves a process behind that writes there.
	mode := filepath.Join(home, ".config", "go", "telemetry", "mode")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mode), 0o700), os.WriteFile(mode, []byte("off"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{
		{"GOPROXY=off"}, {"GOPRIVATE=example.invalid", "GOPROXY=off"}, {"GOPRIVATE=example.invalid"}, {"GOPROXY=http://127.0.0.1:9"},
	} {
		source := append([]string{"PATH=" + os.Getenv("PATH"), "GOMODCACHE=" + user, "GONOSUMDB=*", "GOFLAGS=-mod=mod"}, more...)
		run := exec.Command("go", "mod", "download", "example.invalid/dep")
		run.Dir, run.Env = dir, session.Commands(source, session.Caches(dir, session.ForVerify), home, home)
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("with %q: %v: %s", more, err, out)
		}
		if _, err := os.Stat(filepath.Join(root, "cache", "tree", "verify", "go-mod", "example.invalid", "dep@v1.0.0", "dep.go")); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(filepath.Join(root, "cache")); err != nil {
			t.Error(err)
		}
	}
	if after := tree(t, user); after != before {
		t.Errorf("the user's own were %s and are %s", before, after)
	}
}

// tree lists the files below a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// TestPathOfTheCheckoutAlone: an empty PATH is the working directory.
func TestPathOfTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	for _, entry := range session.Commands([]string{"PATH=.:bin"}, "/repository/tree", "/home", "/tmp") {
		if strings.HasPrefix(entry, "PATH=") {
			t.Errorf("there is %q", entry)
		}
	}
}

func TestTimeOfAllTurns(t *testing.T) {
	t.Parallel()
	b, err := session.OpenGated(t.Context(), session.Program{TempDir: t.TempDir()}, kind,
		engine.Request{Role: engine.Reviewer, Dir: ".", Timeout: time.Nanosecond}, nil)
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

// TestPromptsThatAreTooLarge are refused before the CLI is started, by the limit that is known of it.
func TestPromptsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	bounded := kind
	bounded.MaxPrompt = 4
	for _, test := range []struct {
		kind   session.Kind
		prompt string
		says   string // empty: it is accepted
	}{
		{bounded, "éééé", ""},
		{bounded, "ééééé", "it has 5 characters, and cli accepts at most 4; split the change"},
		{kind, strings.Repeat("x", engine.MaxPrompt), ""},
		{kind, strings.Repeat("x", engine.MaxPrompt+1), "it has 10485761 bytes, and at most 10485760"},
	} {
		b, err := session.OpenGated(t.Context(), session.Program{TempDir: t.TempDir()}, test.kind,
			engine.Request{Role: engine.Reviewer, Dir: "."}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Ready(test.prompt)
		failure, _ := errors.AsType[*engine.Error](err)
		if test.says == "" && err != nil ||
			test.says != "" && (failure == nil || failure.Class != engine.PromptTooLarge || !strings.Contains(failure.Message, test.says)) {
			t.Errorf("a prompt of %d bytes: %v; want %q", len(test.prompt), err, test.says)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	if failure := kind.Failure(engine.Auth, "no key"); failure.Message != "the provider refused cli's login, or there is none; log in "+
		"(cli: no key)" {
		t.Errorf("message = %s", failure.Message)
	}
	if failure := kind.Failure(engine.BadOutput, ""); failure.Message != "cli did not complete the session" ||
		failure.Class != engine.BadOutput {
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
	for number, fits := range map[string]bool{"2.10.3": true, "2.11.0-beta.1": true, "3.0.0": true, "2.10.2": false, "2.9.9": false,
		"1.99.99": false} {
		program := filepath.Join(t.TempDir(), "cli")
		enginetest.Program(t, program, "#!/bin/sh\necho cli "+number+"\n")
		version, err := session.Program{Command: []string{program}, TempDir: t.TempDir()}.Probe(t.Context(), old)
		if version.Engine != old.Name || version.Number != number || (err == nil) != fits {
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
		g, err := session.OpenGated(t.Context(), p, kind, engine.Request{Role: engine.Reviewer, Dir: "."},
			&gateway.Provider{URL: "http://127.0.0.1:9", Key: "sk-secret\r\n"})
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
