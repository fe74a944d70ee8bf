package codex_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/codex"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestRealProbe(t *testing.T) {
	t.Parallel()
	e := &codex.Engine{
		Command: []string{enginetest.CLI(t, "codex")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k"},
	}
	version, err := e.Probe(t.Context())
	if err != nil || !filepath.IsAbs(version.Path) || !strings.HasPrefix(version.Number, "0.") {
		t.Errorf("version = %+v, %v", version, err)
	}
	e.Environ = e.Environ[:1]
	if _, err := e.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	if left, err := os.ReadDir(e.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestRealMentionsNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello."}})
	e := &codex.Engine{
		Command: []string{enginetest.CLI(t, "codex")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	enginetest.WantNoMentions(t, e, p, engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), IdleTimeout: await.Patience})
}

func TestSandboxThatDoesNotWork(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program of this test is one for a Unix shell")
	}
	program := filepath.Join(t.TempDir(), "codex")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && echo codex-cli 0.169.0 && exit\necho 'bwrap: No permissions' >&2\nexit 1\n"
	enginetest.Program(t, program, script)
	_, err := (&codex.Engine{Command: []string{program}, Environ: []string{"OPENAI_API_KEY=k"}, TempDir: t.TempDir()}).Probe(t.Context())
	failure, ok := err.(*engine.Error)
	if !ok || failure.Class != engine.Missing || !strings.Contains(failure.Message, "bwrap: No permissions") {
		t.Errorf("error = %v", err)
	}
}

// TestRealModules has a command build with a module that only this user's downloads hold, as the
// network is out of reach; of two programs of one directory in the command neither is in the way.
func TestRealModules(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program of this test is one for a Unix shell")
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": "d=$(echo $GOPROXY | sed 's,.*file://,,; s/[,|].*//'); test -d $d " +
			"&& ls -d $d/cache/.. $d && touch $GOMODCACHE/x $GOCACHE/x && echo ALL-THERE", "yield_time_ms": 120_000}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	modules := t.TempDir()
	if err := os.MkdirAll(filepath.Join(modules, "cache", "download", "cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := &codex.Engine{
		Command: []string{"/bin/sh", "-c", `exec "$@"`, "sh", "env", enginetest.CLI(t, "codex")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1", "GOMODCACHE=" + modules},
	}
	if _, err := enginetest.Run(t.Context(), e, engine.Request{Role: engine.Author, Dir: dir, IdleTimeout: await.Patience},
		"Go on."); err != nil {
		t.Fatal(err)
	}
	if said := string(p.Calls()[1].Body); !strings.Contains(said, "ALL-THERE\\n") {
		t.Errorf("the command could not use Go's places: %.3000s", said[strings.Index(said, `call_output"`):])
	}
}

// TestRealProgramInTheHomeOpensNothingElse has the CLI as a single file in the user's home, as when it was
// downloaded there: a session reads neither the logins beside it nor anything else.
func TestRealProgramInTheHomeOpensNothingElse(t *testing.T) {
	t.Parallel()
	cli, err := filepath.EvalSymlinks(enginetest.CLI(t, "codex"))
	if err != nil {
		t.Fatal(err)
	}
	scope, _, _ := strings.Cut(cli, filepath.FromSlash("/codex/bin/"))
	native, _ := filepath.Glob(filepath.Join(scope, "codex-*", "vendor", "*", "bin", "codex"))
	if len(native) == 0 {
		t.Skip("SKIPPED: the package has no program for this system")
	}
	home, dir := t.TempDir(), t.TempDir()
	// Its sandbox needs this, which a system can have too.
	tools := filepath.Join(filepath.Dir(filepath.Dir(native[0])), "codex-resources")
	content, err := os.ReadFile(native[0])
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(home, "codex"), content, 0o700), os.Mkdir(filepath.Join(home, ".ssh"), 0o700),
			os.WriteFile(filepath.Join(home, ".ssh", "id"), []byte("S3CRET"), 0o600),
			os.WriteFile(filepath.Join(dir, "a"), []byte("READ-ME"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := enginetest.NewProvider(t,
		enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": "cat a " + home + "/.ssh/id", "yield_time_ms": 120_000}},
		enginetest.Turn{Text: []string{"Done."}},
	)
	e := &codex.Engine{
		Command: []string{filepath.Join(home, "codex")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH") + string(filepath.ListSeparator) + tools, "HOME=" + home,
			"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	req := engine.Request{Role: engine.Reviewer, Dir: dir, IdleTimeout: await.Patience}
	if _, err := enginetest.Run(t.Context(), e, req, "Go on."); err != nil {
		t.Fatal(err)
	}
	if said := string(p.Calls()[1].Body); strings.Contains(said, "S3CRET") || !strings.Contains(said, "READ-ME") {
		t.Errorf("a command read %.2000s", said[strings.Index(said, `call_output"`):])
	}
}

// TestRealInstructionsMayHaveAnyCharacter: they contain documents of the repository.
func TestRealInstructionsMayHaveAnyCharacter(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello."}})
	e := &codex.Engine{
		Command: []string{enginetest.CLI(t, "codex")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	var words strings.Builder
	for c := range rune(0x100) {
		words.WriteRune(c)
	}
	words.WriteString("\u2028\ufeff\U0001F600 \"\"\" '''")
	_, err := enginetest.Run(t.Context(), e, engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Instructions: words.String()}, "Hello?")
	if err != nil {
		t.Fatal(err)
	}
	var asked struct{ Input []struct{ Content any } }
	if err := json.Unmarshal(p.Calls()[0].Body, &asked); err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprint(asked.Input); !strings.Contains(said, words.String()) {
		t.Errorf("the model was told %.2000q", said)
	}
}
