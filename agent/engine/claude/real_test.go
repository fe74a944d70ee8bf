package claude_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
)

// The tests of this file run the real CLI against a scripted provider.

const (
	testKey = "sk-ant-api03-canary-of-the-login"
	prompt  = "Review this."
)

func realEngine(t testing.TB, p *enginetest.Provider, environ ...string) *claude.Engine {
	t.Helper()
	return &claude.Engine{
		Command: []string{enginetest.CLI(t, "claude")},
		Environ: append([]string{
			"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=" + testKey, "ANTHROPIC_BASE_URL=" + p.URL,
			"CLAUDE_CODE_MAX_RETRIES=1",
		}, environ...),
		TempDir: t.TempDir(),
	}
}

func reviewer(dir string) engine.Request {
	return engine.Request{Role: engine.Reviewer, Dir: dir, Timeout: await.Patience, IdleTimeout: await.Patience}
}

func wantClass(t *testing.T, err error, class engine.Class) *engine.Error {
	t.Helper()
	var failure *engine.Error
	if !errors.As(err, &failure) || failure.Class != class {
		t.Fatalf("error = %v (%+v); want one of class %s", err, failure, class)
	}
	return failure
}

// sent is all that the provider was sent.
func sent(p *enginetest.Provider) string {
	var b strings.Builder
	for _, call := range p.Calls() {
		b.Write(call.Body)
	}
	return b.String()
}

func TestRealProbe(t *testing.T) {
	t.Parallel()
	version, err := (&claude.Engine{Command: []string{enginetest.CLI(t, "claude")},
		Environ: []string{"ANTHROPIC_API_KEY=key"}}).Probe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(version.Path) || !strings.HasPrefix(version.Number, "2.") {
		t.Errorf("version = %+v", version)
	}
}

func TestRealReviewerGetsTheWholeAnswer(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t,
		enginetest.Turn{Text: []string{"## [Graph]\n\n", "Nothing."}, Tool: "Glob", Input: map[string]any{"pattern": "*.go"}},
		enginetest.Turn{Text: []string{"## [Security]\n\nIt says {\"cut\":"}, Stop: enginetest.StopLength},
		enginetest.Turn{Text: []string{"\"here\"}"}},
	)
	var seen []string
	req := reviewer(t.TempDir())
	req.Instructions = "INSTRUCTIONS-OF-THE-ROLE"
	var used int64
	req.Progress = func(p engine.Progress) {
		seen = append(seen, string(p.Kind)+" "+p.Text)
		used = p.Used.Total()
	}
	result, err := enginetest.Run(context.Background(), realEngine(t, p), req, prompt)
	if err != nil {
		t.Fatal(err)
	}
	if used == 0 || used > result.Usage.Total() {
		t.Errorf("told of %d tokens, of %d in all", used, result.Usage.Total())
	}
	if want := "## [Graph]\n\nNothing.\n\n## [Security]\n\nIt says {\"cut\":\"here\"}"; result.Text != want {
		t.Errorf("text = %q; want %q", result.Text, want)
	}
	if want := enginetest.Sum(p.Calls()); result.Usage != want || want.CacheRead == 0 {
		t.Errorf("usage = %+v; want %+v", result.Usage, want)
	}
	if result.Turns < 2 || result.CostUSD <= 0 || result.SessionID == "" || result.Model == "" ||
		result.FirstByte <= 0 || result.FirstByte > result.Duration {
		t.Errorf("result = %+v", result)
	}
	if want := "dimension Graph; tool Glob *.go; dimension Security; text \"here\"}"; strings.Join(seen, "; ") != want {
		t.Errorf("progress = %q; want %s", seen, want)
	}
	if !strings.Contains(sent(p), "INSTRUCTIONS-OF-THE-ROLE") {
		t.Error("the instructions did not reach the model")
	}
}

func TestRealAuthorEditsAWorktree(t *testing.T) {
	t.Parallel()
	dir := enginetest.Worktree(t, map[string]string{"go.mod": "module acme\n", "a.go": "package acme\n\nconst answer = 41\n",
		"a_test.go": "package acme\n"})
	file := filepath.Join(dir, "a.go")
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": file}},
		enginetest.Turn{Tool: "Edit", Input: map[string]any{"file_path": file, "old_string": "41", "new_string": "42"}},
		enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": "go vet ./...", "description": "vet"}},
		enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": "sh -c 'echo x > not-allowed'", "description": "not allowed"}},
		enginetest.Turn{Tool: "Write", Input: map[string]any{"file_path": filepath.Join(filepath.Dir(dir), "outside"), "content": "x"}},
		enginetest.Turn{Tool: "Write", Input: map[string]any{"file_path": filepath.Join(dir, ".claude", "settings.json"), "content": "{}"}},
		enginetest.Turn{Tool: "Write", Input: map[string]any{"file_path": filepath.Join(dir, ".git"), "content": "gitdir: elsewhere"}},
		enginetest.Turn{Text: []string{"Raised the answer."}},
	)
	result, err := enginetest.Run(context.Background(), realEngine(t, p), engine.Request{
		Role: engine.Author, Dir: dir, Allow: []string{"go vet *", "go test *"}, Timeout: await.Patience, IdleTimeout: await.Patience,
	}, "Raise the answer.")
	if err != nil {
		t.Fatal(err)
	}
	if result.Text != "Raised the answer." {
		t.Errorf("text = %q", result.Text)
	}
	if status := enginetest.Git(t, dir, "status", "--porcelain"); status != " M a.go\n" {
		t.Errorf("status after the session = %q; want the one edited file", status)
	}
	if diff := enginetest.Git(t, dir, "diff"); !strings.Contains(diff, "+const answer = 42") {
		t.Errorf("diff = %s", diff)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "outside")); err == nil {
		t.Error("the session wrote outside its worktree")
	}
}

// TestRealAuthorRunsWhatIsListed, and edits and deletes files of its worktree without being asked.
// No other command that changes files runs, neither alone nor behind one that is listed.
func TestRealAuthorRunsWhatIsListed(t *testing.T) {
	t.Parallel()
	dir := enginetest.Worktree(t, map[string]string{"go.mod": "module acme\n", "a.go": "package acme\n", "b.go": "package acme\n",
		"c.go": "package acme\n"})
	outside := filepath.Join(filepath.Dir(dir), "outside")
	enginetest.Write(t, outside, "kept")
	var turns []enginetest.Turn
	for _, command := range []string{
		"go version", "touch out1", "go version; touch out2", "go version && mkdir out3", "go version\ntouch out4", "cp a.go out5.go",
		"mv a.go out6.go", "sed -i s/acme/evil/ a.go",
		"rm b.go", "rm ../outside", "rm -rf " + outside, "rm .git", "rm c.go; touch out7", "cd .. && rm outside",
	} {
		turns = append(turns, enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": command, "description": "d"}})
	}
	for _, name := range []string{"new.go", "sub/new.go", ".github/workflows/ci.yml"} {
		turns = append(turns, enginetest.Turn{Tool: "Write",
			Input: map[string]any{"file_path": filepath.Join(dir, filepath.FromSlash(name)), "content": "new"}})
	}
	p := enginetest.NewProvider(t, append(turns, enginetest.Turn{Text: []string{"Done."}})...)
	req := engine.Request{Role: engine.Author, Dir: dir, Allow: []string{"go version*"}, Timeout: await.Patience, IdleTimeout: await.Patience}
	if _, err := enginetest.Run(t.Context(), realEngine(t, p), req, "Go on."); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(sent(p), "go version go") {
		t.Error("the listed command did not run")
	}
	if status := enginetest.Git(t, dir, "status", "--porcelain",
		"--untracked-files=all"); status != " D b.go\n?? .github/workflows/ci.yml\n?? new.go\n?? sub/new.go\n" {
		t.Errorf("status after the session = %q; want one file gone and three new ones", status)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a file outside the worktree is gone: %v", err)
	}
}

// TestRealReviewerOnlyReads has a reviewer try everything but what it is for.
func TestRealReviewerOnlyReads(t *testing.T) {
	t.Parallel()
	dir := enginetest.Worktree(t, map[string]string{"a.go": "package acme\n"})
	file := filepath.Join(dir, "a.go")
	outside, extra := t.TempDir(), t.TempDir()
	enginetest.Write(t, filepath.Join(outside, "secret"), "SECRET-OUTSIDE")
	enginetest.Write(t, filepath.Join(extra, "notes"), "CONTEXT-TO-READ")
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": filepath.Join(extra, "notes")}},
		enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": file}},
		enginetest.Turn{Tool: "Edit", Input: map[string]any{"file_path": file, "old_string": "acme", "new_string": "evil"}},
		enginetest.Turn{Tool: "Write", Input: map[string]any{"file_path": filepath.Join(dir, "new"), "content": "x"}},
		enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": "touch new", "description": "x"}},
		enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": filepath.Join(outside, "secret")}},
		enginetest.Turn{Tool: "Grep", Input: map[string]any{"pattern": "SECRET", "path": outside, "output_mode": "content"}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	req := reviewer(dir)
	req.ReadDirs = []string{extra}
	if _, err := enginetest.Run(context.Background(), realEngine(t, p), req, prompt); err != nil {
		t.Fatal(err)
	}
	if status := enginetest.Git(t, dir, "status", "--porcelain"); status != "" {
		t.Errorf("status after the session = %q", status)
	}
	conversation := sent(p)
	if strings.Contains(conversation, "SECRET-OUTSIDE") {
		t.Error("the session read outside its directories")
	}
	if !strings.Contains(conversation, "CONTEXT-TO-READ") {
		t.Error("the session could not read the directory added for it")
	}
}

func TestRealLogins(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	enginetest.Write(t, filepath.Join(home, ".claude", ".credentials.json"),
		fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-stored","refreshToken":"x","expiresAt":%d}}`,
			time.Now().Add(time.Hour).UnixMilli()))
	for _, test := range []struct {
		name, environ, header, value string
	}{
		{"API key", "ANTHROPIC_API_KEY=" + testKey, "X-Api-Key", testKey},
		{"setup token", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-canary", "Authorization", "Bearer sk-ant-oat01-canary"},
		{"stored subscription", "HOME=" + home, "Authorization", "Bearer sk-ant-oat01-stored"},
		{"gateway token", "ANTHROPIC_AUTH_TOKEN=gateway-canary", "Authorization", "Bearer gateway-canary"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello."}})
			e := realEngine(t, p)
			e.Environ = []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + p.URL, test.environ}
			if _, err := enginetest.Run(context.Background(), e, reviewer(t.TempDir()), prompt); err != nil {
				t.Fatal(err)
			}
			if got := p.Calls()[0].Header.Get(test.header); got != test.value {
				t.Errorf("%s = %q; want %q", test.header, got, test.value)
			}
		})
	}
}

// TestRealEndsInMidSession has a session go on for ever whose answers only the CLI sees.
func TestRealEndsInMidSession(t *testing.T) {
	t.Parallel()
	again := enginetest.Turn{Text: []string{"Once more."}, Tool: "Read", Input: map[string]any{"file_path": "a.go"}}
	for class, bound := range map[engine.Class]func(*engine.Request){
		engine.MaxTurns: func(req *engine.Request) { req.MaxTurns = 2 },
		engine.Budget:   func(req *engine.Request) { req.Budget = 0.0001 },
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProvider(t, again)
			e := realEngine(t, p)
			e.Direct = true
			req := reviewer(t.TempDir())
			bound(&req)
			result, err := enginetest.Run(t.Context(), e, req, prompt)
			wantClass(t, err, class)
			// It goes on until it is ended, which takes as long as the machine is busy.
			if n := len(p.Calls()); n > 12 || result.Usage.Output == 0 {
				t.Errorf("the provider was asked %d times, for %+v", n, result.Usage)
			}
		})
	}
}

func TestRealMentionsNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello."}})
	enginetest.WantNoMentions(t, realEngine(t, p), p, reviewer(t.TempDir()))
}

// TestRealCommandsEnd when they take longer than a tool may, whatever the model asks for; the
// session goes on.
func TestRealCommandsEnd(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": "sleep 300", "description": "d", "timeout": 600_000}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	req := engine.Request{Role: engine.Author, Dir: t.TempDir(), Timeout: 4 * time.Minute, IdleTimeout: await.Patience,
		ToolTimeout: 2 * time.Second, Allow: []string{"sleep 300"}}
	result, err := enginetest.Run(t.Context(), realEngine(t, p), req, prompt)
	if err != nil || result.Text != "Done." || !strings.Contains(sent(p), "Command timed out after 2s") {
		t.Errorf("%q, %v; the provider was sent %s", result.Text, err, sent(p))
	}
}

func TestRealAnswersMayTakeAsLongAsTheUserSays(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Hang: enginetest.HangBefore}, enginetest.Turn{Hang: enginetest.HangBefore})
	_, err := enginetest.Run(t.Context(), realEngine(t, p, "API_TIMEOUT_MS=300"), reviewer(t.TempDir()), prompt)
	if failure := wantClass(t, err, engine.Network); !strings.Contains(failure.Message, "API_TIMEOUT_MS") {
		t.Errorf("it says %q", failure.Message)
	}
}
