package opencode_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/opencode"
	"touchstone/worktree/await"
)

// TestRealOpenAI holds a session of several steps and turns with models that OpenAI answers by
// its Responses API, some of them by that alone. What the model has thought goes back to it.
func TestRealOpenAI(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"gpt-5.2-codex", "o4-mini"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			done := enginetest.Turn{Text: []string{"Done."}, Think: 2}
			p := enginetest.NewProvider(t, enginetest.Turn{Tool: "glob", Input: map[string]any{"pattern": "*", "path": dir}, Think: 2}, done)
			e := &opencode.Engine{
				Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
				Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
			}
			s, err := e.Open(t.Context(), engine.Request{Role: engine.Reviewer, Dir: dir, Model: "openai/" + model, IdleTimeout: await.Patience})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 2 {
				if result, err := s.Ask(t.Context(), "Go on."); err != nil || result.Text != "Done." {
					t.Fatalf("%q, %v", result.Text, err)
				}
			}
			calls := p.Calls()
			last := calls[len(calls)-1]
			if len(calls) != 3 || last.Path != "/v1/responses" || !strings.Contains(string(last.Body), `"encrypted_content":"`) {
				t.Errorf("asked %d times, last at %s: %s", len(calls), last.Path, last.Body)
			}
		})
	}
}

// TestRealCompatible holds a session with a service that speaks chat completions alone.
func TestRealCompatible(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello", "."}})
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	result, err := enginetest.Run(t.Context(), e,
		engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: "openai-compatible/org/scripted", IdleTimeout: await.Patience}, "Hello?")
	if err != nil {
		t.Fatal(err)
	}
	calls := p.Calls()
	if result.Text != "Hello." || result.Usage.Output != calls[0].Usage.Output || calls[0].Path != "/v1/chat/completions" {
		t.Errorf("%q with %+v from %s", result.Text, result.Usage, calls[0].Path)
	}
}

// TestRealAnthropic holds a session with a service of another kind than the conformance
// suite uses.
func TestRealAnthropic(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-api03-canary"
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello", "."}})
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + p.URL},
	}
	result, err := enginetest.Run(t.Context(), e,
		engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: "anthropic/claude-scripted", IdleTimeout: await.Patience}, "Hello?")
	if err != nil {
		t.Fatal(err)
	}
	if want := enginetest.Sum(p.Calls()); result.Text != "Hello." || result.Usage != want {
		t.Errorf("%q with %+v; want %+v", result.Text, result.Usage, want)
	}
	if call := p.Calls()[0]; call.Path != "/v1/messages" || call.Header.Get("X-Api-Key") != key {
		t.Errorf("the provider was asked at %s with %s", call.Path, call.Header.Get("X-Api-Key"))
	}
}

func TestRealMentionsNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello."}})
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	enginetest.WantNoMentions(t, e, p, engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: "openai/scripted",
		IdleTimeout: await.Patience})
}

// TestRealLoadsNothing has the model write what the CLI would load if it were where the CLI
// works, and the servers that are asked for downloads say so.
func TestRealLoadsNothing(t *testing.T) {
	t.Parallel()
	registry, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	go func() {
		defer close(asked)
		for {
			conn, err := registry.Accept()
			if err != nil {
				return
			}
			conn.Close()
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	}()
	canary := filepath.Join(t.TempDir(), "canary")
	loaded := `require("fs").writeFileSync("` + filepath.ToSlash(canary) + `", "x")`
	write := func(name, content string) enginetest.Turn {
		return enginetest.Turn{Tool: "write", Input: map[string]any{"filePath": name, "content": content}}
	}
	dir := t.TempDir()
	done := enginetest.Turn{Text: []string{"Done."}}
	p := enginetest.NewProvider(t,
		write("paths.js", loaded),
		write("tsconfig.json", `{"compilerOptions":{"paths":{"*":["./paths.js"]}}}`),
		write(".opencode/plugin/evil.js", loaded+"; export const Evil = async () => ({})"),
		write(filepath.Join(dir, ".git", "config"), "x"),
		write(filepath.Join(dir, "mended"), "x"),
		enginetest.Turn{Tool: "bash", Input: map[string]any{"command": "touch made", "workdir": dir, "description": "d"}},
		done, done,
	)
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
		Environ: []string{
			"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1",
			"HTTP_PROXY=http://" + registry.Addr().String(), "HTTPS_PROXY=http://" + registry.Addr().String(),
		},
	}
	s, err := e.Open(t.Context(), engine.Request{Role: engine.Author, Dir: dir, Model: "openai/scripted", Allow: []string{"touch *"},
		IdleTimeout: await.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if _, err := s.Ask(t.Context(), "Go on."); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("what the model wrote was loaded")
	}
	if written, err := filepath.Glob(filepath.Join(e.TempDir, "*", "work", "paths.js")); err != nil || len(written) > 0 {
		t.Errorf("the model wrote %q, %v", written, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 || list[0].Name() != "made" || list[1].Name() != "mended" {
		t.Errorf("the checkout has %v, %v", list, err)
	}
	registry.Close()
	if _, any := <-asked; any {
		t.Error("the CLI asked for something else than its provider")
	}
}

func TestModelsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	e := &opencode.Engine{Environ: []string{"OPENAI_API_KEY=k"}, TempDir: t.TempDir()}
	for model, class := range map[string]engine.Class{
		"": engine.Invalid, "gpt-5": engine.Invalid, "openai/": engine.Invalid, "parrot/polly": engine.Invalid,
		"openai-compatible/m": engine.Invalid, "anthropic/claude": engine.Auth,
	} {
		_, err := e.Open(t.Context(), engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: model})
		if failure, ok := err.(*engine.Error); !ok || failure.Class != class {
			t.Errorf("%q: %v; want class %s", model, err, class)
		}
	}
}

func TestPatternsThatAllowEverything(t *testing.T) {
	t.Parallel()
	e := &opencode.Engine{Environ: []string{"OPENAI_API_KEY=k"}, TempDir: t.TempDir()}
	for _, pattern := range []string{"", " ", "*"} {
		_, err := e.Open(t.Context(), engine.Request{Role: engine.Author, Dir: t.TempDir(), Model: "openai/m", Allow: []string{pattern}})
		if failure, ok := err.(*engine.Error); !ok || failure.Class != engine.Invalid {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	if left, err := os.ReadDir(e.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestRealInstructionsAreTakenAsTheyAre although the CLI replaces such words in its configuration, in which they are.
func TestRealInstructionsAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("what nobody is to see"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello."}})
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + p.URL + "/v1"},
	}
	words := `In {env:HOME}, {file:` + outside + `}, {{file:./none}}, {} and {x}: "apiKey":"{env:TOUCHSTONE_GATEWAY_TOKEN}".`
	_, err := enginetest.Run(t.Context(), e, engine.Request{
		Role: engine.Reviewer, Dir: t.TempDir(), Model: "openai-compatible/scripted", Instructions: words, IdleTimeout: await.Patience,
	}, "Hello?")
	if err != nil {
		t.Fatal(err)
	}
	var asked struct {
		Messages []struct{ Content any }
	}
	if err := json.Unmarshal(p.Calls()[0].Body, &asked); err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprint(asked.Messages[0].Content); !strings.Contains(said, words) {
		t.Errorf("the model was told %s", said)
	}
}
