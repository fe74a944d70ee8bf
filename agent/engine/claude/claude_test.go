package claude_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/enginetest"
)

// replay as the first argument makes this test binary play a CLI that prints
// what the file named next holds; the environment cannot say so, because a
// session does not get it.
const replay = "replay"

func TestMain(m *testing.M) {
	enginetest.Bootstrap()
	if len(os.Args) > 2 && os.Args[1] == replay {
		play(os.Args[2])
		return
	}
	os.Exit(test(m))
}

func test(m *testing.M) int {
	var err error
	if buildDir, err = os.MkdirTemp("", "touchstone-engine-test-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(buildDir)
	return m.Run()
}

func play(dir string) {
	// A CLI that leaves its prompt unread is no subject of these tests.
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		panic(err)
	}
	for name, stream := range map[string]*os.File{"stdout": os.Stdout, "stderr": os.Stderr} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			panic(err)
		}
		if _, err := stream.Write(data); err != nil {
			os.Exit(2)
		}
	}
}

// player is an engine whose CLI prints the two streams and ends well.
func player(t testing.TB, stdout, stderr string) *claude.Engine {
	t.Helper()
	dir := t.TempDir()
	enginetest.Write(t, filepath.Join(dir, "stdout"), stdout)
	enginetest.Write(t, filepath.Join(dir, "stderr"), stderr)
	return &claude.Engine{
		Command: []string{os.Args[0], replay, dir},
		Environ: []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=" + testKey},
		TempDir: t.TempDir(),
	}
}

const (
	says      = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":%q}]}}` + "\n"
	completed = `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1}` + "\n"
)

// TestAResultIsTheEndUntilTheModelIsAskedAgain: its next words may take long, and are the answer then.
func TestAResultIsTheEndUntilTheModelIsAskedAgain(t *testing.T) {
	t.Parallel()
	hello := fmt.Sprintf(says, "Hello.")
	for line, over := range map[string]bool{
		`{"type":"system","subtype":"status"}`: true, `{"type":"rate_limit_event"}`: true, "a warning": true,
		`{"type":"user","message":{"content":"A task has ended."}}`: false, `{"type":"system","subtype":"init"}`: false, hello: false,
		`{"type":"stream_event","event":{"type":"message_start"}}`: false,
	} {
		if got := claude.Over(t, hello, completed, line); got != over {
			t.Errorf("over: %t after %s", got, line)
		}
	}
	if claude.Over(t, hello) || !claude.Over(t, hello, completed, hello, completed) {
		t.Error("it is not over with each result")
	}
}

func TestSessionOutcomes(t *testing.T) {
	t.Parallel()
	hello := fmt.Sprintf(says, "Hello.")
	for _, test := range []struct {
		name, stdout, stderr string
		class                engine.Class // empty: the session finished
		message              string       // a part of the sentence, or of the text
	}{
		{"complete", hello + completed, "", "", "Hello."},
		{"unknown events", `{"type":"novelty","x":[1]}` + "\n" + hello + `{"type":"system","subtype":"novelty"}` + "\n" + completed, "", "",
			"Hello."},
		{"lines that are no events", "a warning\n{\"half\n[]\n42\n" + hello + completed, "", "", "Hello."},
		{"fields of other types", `{"type":"assistant","error":{"is":"an object"},"message":{"model":7,"content":[{"type":"text",` +
			`"text":"Hello."}]}}` + "\n" + completed, "", "", "Hello."},
		{"invalid UTF-8", "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Hel\xfflo.\"}]}}\n" + completed, "",
			"", "Hel\uFFFDlo."},
		{"a sub-agent's words", `{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"content":[{"type":"text","text":"Psst."}]}}` +
			"\n" + hello + completed, "", "", "Hello."},
		{"no end of the last line", hello + strings.TrimSuffix(completed, "\n"), "", "", "Hello."},
		{"nothing", "", "", engine.Crash, "exit status 0"},
		{"no result", hello, "", engine.Crash, "before the session was over"},
		{"no result but a complaint", "", "out of memory\n", engine.Crash, "it said: out of memory"},
		{"a long complaint", "", "warning: no terminal\n" + strings.Repeat("    at call (file.js)\n", 100) + "out of memory\n", engine.Crash,
			"out of memory"},
		{"a complaint with a long explanation", "", "out of memory\n" + strings.Repeat("    at call (file.js)\n", 100), engine.Crash,
			"it said: out of memory"},
		{"a flag that it does not know, after much else", "", strings.Repeat("warning: no terminal\n", 15) + "error: unknown option '--x'\n" +
			strings.Repeat("  -h, --help  Show help\n", 15), engine.Invalid, "update this program"},
		{"a complaint with the login", "", "key " + testKey + " is bad", engine.Crash, "key [redacted] is bad"},
		{"an exit that calls itself a success", hello +
			`{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"terminal_reason":"api_error"}`, "", engine.Auth,
			"setup-token"},
		{"a proxy that gave up", `{"type":"result","is_error":true,"api_error_status":408,"terminal_reason":"api_error"}`, "", engine.Network,
			"could not be reached"},
		{"interrupted", hello + `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"aborted_streaming"}`, "",
			engine.BadOutput, "did not complete"},
		{"out of turns", hello + `{"type":"result","is_error":true,"terminal_reason":"max_turns"}`, "", engine.MaxTurns, "turns"},
		{"a prompt beyond the context window", `{"type":"result","is_error":true,"terminal_reason":"blocking_limit","result":"Prompt is too ` +
			`long"}`, "", engine.PromptTooLarge, "split the change"},
		{"a session beyond the context window", hello + `{"type":"result","is_error":true,"terminal_reason":"blocking_limit"}`, "",
			engine.ContextOverflow, "context window"},
		{"a result that says too little", hello + `{"type":"result","subtype":"success"}`, "", engine.BadOutput, "update claude"},
		{"a result of the wrong type", hello + `{"type":"result","is_error":"no","terminal_reason":"completed"}`, "", engine.BadOutput,
			"update claude"},
		{"silent success", completed, "", engine.BadOutput, "without an answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result, err := enginetest.Run(context.Background(), player(t, test.stdout, test.stderr), reviewer(t.TempDir()), prompt)
			if test.class == "" {
				if err != nil {
					t.Fatal(err)
				}
				if result.Text != test.message {
					t.Errorf("text = %q; want %q", result.Text, test.message)
				}
				return
			}
			failure := wantClass(t, err, test.class)
			if !strings.Contains(failure.Message, test.message) {
				t.Errorf("message = %q; want %q in it", failure.Message, test.message)
			}
			if strings.Contains(failure.Message, testKey) {
				t.Error("the login is in the message")
			}
		})
	}
}

func TestEndlessTextIsStopped(t *testing.T) {
	t.Parallel()
	page := fmt.Sprintf(says, strings.Repeat("x", 1<<20))
	_, err := enginetest.Run(context.Background(), player(t, strings.Repeat(page, 6)+completed, ""), reviewer(t.TempDir()), prompt)
	wantClass(t, err, engine.BadOutput)
}

func TestProgressIsOnePrintableLine(t *testing.T) {
	t.Parallel()
	var seen []engine.Progress
	req := reviewer(t.TempDir())
	req.Progress = func(p engine.Progress) { seen = append(seen, p) }
	text := testKey + strings.Repeat(" long", 1000)
	stdout := `{"type":"assistant","message":{"content":[{"type":"text","text":"\u001b[2Jfirst\nline\u202e ` + text + `"}]}}` + "\n" +
		completed
	if _, err := enginetest.Run(context.Background(), player(t, stdout, ""), req, prompt); err != nil {
		t.Fatal(err)
	}
	got := seen[0].Text
	if !strings.HasPrefix(got, "[2Jfirst line [redacted] long") || len([]rune(got)) != 200 {
		t.Errorf("progress = %q", got)
	}
}

func TestACallThatFailedIsReported(t *testing.T) {
	t.Parallel()
	var seen []string
	req := reviewer(t.TempDir())
	req.Progress = func(p engine.Progress) { seen = append(seen, string(p.Kind)+" "+p.Text) }
	const (
		call   = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":%q}}]}}` + "\n"
		result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"is_error":%t,"content":"..."}]}}` + "\n"
	)
	stdout := fmt.Sprintf(call, "1", "a.go") + fmt.Sprintf(call, "2", "b.go") + fmt.Sprintf(result, "1", true) +
		fmt.Sprintf(result, "2", false) + fmt.Sprintf(says, "Hello.") + completed
	if _, err := enginetest.Run(t.Context(), player(t, stdout, ""), req, prompt); err != nil {
		t.Fatal(err)
	}
	if want := []string{"tool Read a.go", "tool Read b.go", "failed Read a.go", "text Hello."}; !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
}

func TestRequestsThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, req := range map[string]engine.Request{
		"no role":                 {Dir: dir},
		"no directory":            {Role: engine.Reviewer},
		"reviewer with a shell":   {Role: engine.Reviewer, Dir: dir, Allow: []string{"go test *"}},
		"model like an option":    {Role: engine.Reviewer, Dir: dir, Model: "--dangerously-skip-permissions"},
		"pattern that breaks out": {Role: engine.Author, Dir: dir, Allow: []string{"go test) Bash(*"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := player(t, "", "").Open(context.Background(), req)
			wantClass(t, err, engine.Invalid)
		})
	}
}

func TestPromptsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]engine.Class{" \n": engine.Invalid, strings.Repeat("x", engine.MaxPrompt+1): engine.PromptTooLarge} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			_, err := enginetest.Run(context.Background(), player(t, fmt.Sprintf(says, "Hello.")+completed, ""), reviewer(t.TempDir()), prompt)
			wantClass(t, err, want)
		})
	}
}

func TestHomeIsGoneAfterwards(t *testing.T) {
	t.Parallel()
	e := player(t, completed, "")
	if _, err := e.Probe(context.Background()); err == nil {
		t.Error("a CLI without a version passed for claude")
	}
	_, err := enginetest.Run(context.Background(), e, reviewer(t.TempDir()), prompt)
	wantClass(t, err, engine.BadOutput)
	left, err := os.ReadDir(e.TempDir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestMissingCLI(t *testing.T) {
	t.Parallel()
	e := &claude.Engine{Command: []string{"no-such-claude"}, TempDir: t.TempDir()}
	_, probe := e.Probe(context.Background())
	_, run := enginetest.Run(context.Background(), e, reviewer(t.TempDir()), prompt)
	for _, err := range []error{probe, run} {
		if failure := wantClass(t, err, engine.Missing); !strings.Contains(failure.Message, "npm install -g @anthropic-ai/claude-code") {
			t.Errorf("message without a remedy: %s", failure.Message)
		}
	}
}

// TestSubscriptionLogin reads the login that a user's own claude has stored.
func TestSubscriptionLogin(t *testing.T) {
	t.Parallel()
	stored := func(in time.Duration) string {
		return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-canary","refreshToken":"sk-ant-ort01-canary","expiresAt":%d}}`,
			time.Now().Add(in).UnixMilli())
	}
	for _, test := range []struct {
		name, file string
		class      engine.Class // of a session that answers nothing
	}{
		{"fresh", stored(8 * time.Hour), engine.BadOutput},
		{"of another kind", `{"other":{}}`, engine.BadOutput},
		{"about to expire", stored(time.Second), engine.Auth},
		{"unreadable", `{"claudeAiOauth":`, engine.Auth},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := filepath.Join(home, ".claude", ".credentials.json")
			enginetest.Write(t, path, test.file)
			e := player(t, completed, "")
			e.Environ = []string{"HOME=" + home, "USERPROFILE=" + home}
			_, err := enginetest.Run(context.Background(), e, reviewer(t.TempDir()), prompt)
			failure := wantClass(t, err, test.class)
			if strings.Contains(failure.Message, "canary") {
				t.Errorf("the login is in the message: %s", failure.Message)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != test.file {
				t.Errorf("the user's login was changed: %v", err)
			}
		})
	}
}

// FuzzSession holds that no output makes a session panic or pass for complete
// without the line that says so.
func FuzzSession(f *testing.F) {
	f.Add(fmt.Sprintf(says, "Hello.") + completed)
	f.Add(`{"type":"assistant","message":null}` + "\n" + `{"type":"result","is_error":null}`)
	f.Add(`{"type":"system","subtype":"api_retry","retry_delay_ms":1e300,"error_status":-1}` + "\n" + `{"type":"result","is_error":true}`)
	f.Fuzz(func(t *testing.T, output string) {
		text, err := claude.Replay(strings.Split(output, "\n"))
		// The word may be spelt with escapes, but it has to be there.
		if err == nil && !strings.Contains(output, "completed") && !strings.Contains(output, `\u00`) {
			t.Errorf("passed for complete with text %q", text)
		}
	})
}
