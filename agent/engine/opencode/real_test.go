package opencode_test

import (
	"os"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/opencode"
)

// TestRealAnthropic holds a session with the other of the two services; the
// conformance suite uses the first.
func TestRealAnthropic(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-api03-canary"
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"Hello", "."}})
	e := &opencode.Engine{
		Command: []string{enginetest.CLI(t, "opencode")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + p.URL},
	}
	result, err := enginetest.Run(t.Context(), e, engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: "anthropic/claude-scripted"}, "Hello?")
	if err != nil {
		t.Fatal(err)
	}
	if want := engine.Usage(enginetest.Sum(p.Calls())); result.Text != "Hello." || result.Usage != want {
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
	enginetest.WantNoMentions(t, e, p, engine.Request{Role: engine.Reviewer, Dir: t.TempDir(), Model: "openai/scripted"})
}

func TestModelsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	e := &opencode.Engine{Environ: []string{"OPENAI_API_KEY=k"}, TempDir: t.TempDir()}
	for model, class := range map[string]engine.Class{
		"": engine.Invalid, "gpt-5": engine.Invalid, "openai/": engine.Invalid, "parrot/polly": engine.Invalid,
		"anthropic/claude": engine.Auth,
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
