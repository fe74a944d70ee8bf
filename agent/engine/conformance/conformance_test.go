package conformance_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// testCase is something that every engine has to do alike.
type testCase struct {
	name string
	when when
	run  func(t *testing.T, s subject)
}

// when is when a case runs.
type when int

const (
	// always is also where not all cases run: what no other package's tests show of the real CLI,
	// and takes seconds.
	always when = iota
	// thorough is where all cases run.
	thorough
)

func cases() []testCase {
	list := []testCase{
		{"answer", always, testAnswer},
		{"a read that fails", thorough, testFailedRead},
		{"several turns", thorough, testTurns},
		{"cache across sessions", always, testCacheAcrossSessions},
		{"effort", always, testEffort},
		{"structured answer", thorough, testStructured},
		{"edited worktree", always, testEdit},
		{"author runs the code", thorough, testRuns},
		{"hostile checkout", always, testHostile},
		{"confined author", thorough, testConfined},
		{"reviewer only reads", thorough, testReviewerOnlyReads},
		{"forged output", thorough, testForged},
		{"tools end with the session", always, testToolsEnd},
		{"noise", thorough, testNoise},
		{"endless line", thorough, testEndlessLine},
		{"flood", thorough, testFlood},
		{"crash", thorough, testCrash},
		{"unknown flag", thorough, testUnknownFlag},
		{"deaf to signals", thorough, testDeaf},
		{"no end after the answer", thorough, testNoEnd},
		{"hang in a tool", thorough, testHungTool},
		{"quiet in a tool", thorough, testQuietTool},
		{"quiet in a tool, without a gateway", thorough, testQuietDirect},
		{"hang before the first byte", thorough, testHang(enginetest.HangBefore)},
		{"hang in mid-stream", thorough, testHang(enginetest.HangMid)},
		{"slow but alive", thorough, testSlow},
		{"context full in mid-session", thorough, testContextFull},
		{"prompt too large", thorough, testPromptTooLarge},
		{"unreachable provider", thorough, testUnreachable},
		{"retry after", thorough, testRetryAfter},
		{"retry after in mid-session", thorough, testRetryMidway},
		{"overloaded in mid-session", thorough, testOverloadMidway},
		{"out of time", thorough, testOutOfTime},
		{"out of budget", thorough, testBudget},
		{"out of turns", thorough, testMaxTurns},
		{"without a gateway", thorough, testDirect},
		{"missing", thorough, testMissing},
		{"no login", thorough, testNoLogin},
	}
	for _, f := range []struct {
		name  string
		turn  enginetest.Turn
		class engine.Class
	}{
		{"login refused", enginetest.Turn{Fault: enginetest.Unauthorized}, engine.Auth},
		{"no permission", enginetest.Turn{Fault: enginetest.Forbidden}, engine.Auth},
		{"no credit", enginetest.Turn{Fault: enginetest.NoCredit}, engine.Billing},
		{"rate limit", enginetest.Turn{Fault: enginetest.TooMany}, engine.RateLimited},
		{"overloaded", enginetest.Turn{Fault: enginetest.Overloaded}, engine.Overloaded},
		{"server error", enginetest.Turn{Fault: enginetest.Broken}, engine.Server},
		{"no credit in mid-stream", enginetest.Turn{Fault: enginetest.NoCredit, Late: true}, engine.Billing},
		{"rate limit in mid-stream", enginetest.Turn{Fault: enginetest.TooMany, Late: true}, engine.RateLimited},
		{"overloaded in mid-stream", enginetest.Turn{Fault: enginetest.Overloaded, Late: true}, engine.Overloaded},
		{"server error in mid-stream", enginetest.Turn{Fault: enginetest.Broken, Late: true}, engine.Server},
		{"cut in mid-stream", enginetest.Turn{Text: []string{"half an "}, Cut: true}, engine.Network},
		{"unknown model", enginetest.Turn{Fault: enginetest.NoSuchModel}, engine.UnknownModel},
		{"prompt too long", enginetest.Turn{Fault: enginetest.TooLong}, engine.ContextOverflow},
		{"refusal", enginetest.Turn{Text: []string{"no"}, Stop: enginetest.StopRefusal}, engine.Refusal},
		{"malformed request", enginetest.Turn{Fault: enginetest.Malformed}, engine.BadRequest},
		{"empty answer", enginetest.Turn{Text: []string{""}}, engine.BadOutput},
	} {
		list = append(list, testCase{f.name, thorough, func(t *testing.T, s subject) {
			b := newBench(t, s, nil, f.turn)
			t.Log(b.fails(t, t.Context(), b.reviewer(), f.class).Message)
			if all {
				b.fails(t, t.Context(), b.author("go test *"), f.class)
			}
		}})
	}
	return list
}

// all says that the cases run which take their time, too.
var all = os.Getenv("TOUCHSTONE_ENGINES") == "all"

// Each engine gets an answer from its real CLI. This one case is with each run of the tests.
func TestEachRealCLIGivesAnAnswer(t *testing.T) {
	t.Parallel()
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			testAnswer(t, s)
		})
	}
}

func TestRealConformance(t *testing.T) {
	t.Parallel()
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases() {
				if !all && c.when == thorough {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					if reason := s.cannot[c.name]; reason != "" {
						t.Skip("NOT MET: ", reason)
					}
					c.run(t, s)
				})
			}
		})
	}
}

func TestEveryEngineIsHeldToThis(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range subjects {
		names = append(names, s.name)
	}
	slices.Sort(names)
	if !slices.Equal(names, engines.Names()) {
		t.Errorf("the suite is for %v; the engines are %v", names, engines.Names())
	}
}

func testFailedRead(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	play(t, b, s.read(filepath.Join(b.dir, "missing.go")), s.read(filepath.Join(b.dir, "a.go")), enginetest.Turn{Text: []string{"Nothing."}})
	req := b.reviewer()
	var called, failed []engine.Progress
	req.Progress = func(p engine.Progress) {
		switch p.Kind {
		case engine.ProgressTool:
			called = append(called, p)
		case engine.ProgressFailed:
			failed = append(failed, p)
		}
	}
	b.run(t, req)
	if len(called) != 2 || len(failed) != 1 || failed[0].Target != called[0].Target || failed[0].Text != called[0].Text {
		t.Errorf("of %+v failed %+v", called, failed)
	}
}

func testAnswer(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	play(t, b, s.read(filepath.Join(b.dir, "a.go")), enginetest.Turn{Text: []string{"## [Graph]\n\n", "Nothing.\n\n"}},
		enginetest.Turn{Text: []string{"never"}})
	b.program.Environ = append(b.program.Environ, proxies...)
	b.reset(t)
	req := b.reviewer()
	var seen []string
	req.Progress = func(p engine.Progress) {
		seen = append(seen, string(p.Kind)+" "+p.Text)
		if p.Kind == engine.ProgressTool && !strings.Contains(p.Target, "a.go") {
			t.Errorf("the tool is called with %q", p.Target)
		}
	}
	result := b.run(t, req)
	if want := "## [Graph]\n\nNothing."; strings.TrimSpace(result.Text) != want {
		t.Errorf("text = %q; want %q", result.Text, want)
	}
	if want := enginetest.Sum(b.provider.Calls()); result.Usage.Prompt() != want.Prompt() || result.Usage.Output != want.Output ||
		want.CacheRead == 0 || result.Usage.CacheRead != want.CacheRead {
		t.Errorf("usage = %+v; want %+v", result.Usage, want)
	}
	if result.SessionID == "" || result.Turns == 0 || result.FirstByte <= 0 || result.FirstByte > result.Duration {
		t.Errorf("result = %+v", result)
	}
	progress := strings.Join(seen, "; ")
	if !strings.Contains(progress, "tool ") || !strings.Contains(progress, "a.go") || !strings.Contains(progress, "dimension Graph") {
		t.Errorf("progress = %s", progress)
	}
	if !strings.Contains(b.sent(), "ORDERS-OF-THE-ROLE") || !strings.Contains(b.sent(), "const answer = 41") {
		t.Error("the instructions, or the file that was read, did not reach the model")
	}
	for _, call := range b.provider.Calls() {
		if !strings.Contains(call.Header.Get("Authorization")+call.Header.Get("X-Api-Key")+call.Header.Get("X-Goog-Api-Key"), key) {
			t.Error("the provider was asked without the login")
		}
	}
	if left, err := os.ReadDir(b.program.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func testTurns(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"First answer."}}, enginetest.Turn{Text: []string{"Second answer."}})
	conversation, err := b.engine.Open(t.Context(), b.reviewer())
	if err != nil {
		t.Fatal(err)
	}
	first, err := conversation.Ask(t.Context(), "FIRST-QUESTION")
	if err != nil {
		t.Fatal(err)
	}
	second, err := conversation.Ask(t.Context(), "SECOND-QUESTION")
	if err != nil {
		t.Fatal(err)
	}
	if first.Text != "First answer." || second.Text != "Second answer." || first.SessionID != second.SessionID {
		t.Errorf("answers = %q in %s, %q in %s; want each of its own turn, in one session", first.Text, first.SessionID, second.Text,
			second.SessionID)
	}
	// A CLI that adds its turns up must not have the first one paid for twice.
	if first.CostUSD < 0 || second.CostUSD > 2*first.CostUSD {
		t.Errorf("turns cost $%g and $%g; want the second without the first", first.CostUSD, second.CostUSD)
	}
	calls := b.provider.Calls()
	last := calls[len(calls)-1]
	for _, want := range []string{"FIRST-QUESTION", "First answer.", "SECOND-QUESTION"} {
		if !strings.Contains(string(last.Body), want) {
			t.Errorf("the second turn was not told %q", want)
		}
	}
	// Not every API counts what goes into its cache apart.
	if want := last.Usage; second.Usage.Prompt() != want.Prompt() || second.Usage.Output != want.Output {
		t.Errorf("usage of the second turn = %+v; want %+v", second.Usage, want)
	}
	if err := conversation.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(b.program.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// testStructured has a model write what a machine is to read, in pieces that end
// anywhere: none of it may be lost, changed or rendered.
func testStructured(t *testing.T, s subject) {
	text := "## [Security]\n\nÜber *alles* <b>¡✓</b>:\n\n```json\n{\"findings\": [{\"path\": \"a \\\"b\\\".go\",\t\"line\": 3, \"why\": " +
		"\"<!-- -->\\u0000 & ```\"}]}\n```\n\n" +
		"| a | b |\n|---|---|\n\n<!-- RUN:n0nce -->\n<!-- VERDICT:REQUEST_CHANGES -->"
	var pieces []string
	for piece := range slices.Chunk([]rune(text), 7) {
		pieces = append(pieces, string(piece))
	}
	first := s.read("a.go")
	b := newBench(t, s, nil, first, enginetest.Turn{Text: pieces})
	if result := b.run(t, b.reviewer()); strings.TrimSpace(result.Text) != text {
		t.Errorf("text = %q\nwant   %q", result.Text, text)
	}
}

func testEdit(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	file, outside := filepath.Join(b.dir, "a.go"), filepath.Join(filepath.Dir(b.dir), "outside")
	dotGit := filepath.Join(b.dir, ".git")
	before, err := os.ReadFile(dotGit)
	if err != nil {
		t.Fatal(err)
	}
	play(t, b,
		s.read(file),
		s.write(file, "package acme\n\nconst answer = 42\n"),
		s.write(outside, "x"),
		s.write(dotGit, "gitdir: elsewhere"),
		enginetest.Turn{Text: []string{"Raised the answer."}},
	)
	if result := b.run(t, b.author("go vet *")); result.Text != "Raised the answer." {
		t.Errorf("text = %q", result.Text)
	}
	if status := enginetest.Git(t, b.dir, "status", "--porcelain"); status != " M a.go\n" {
		t.Errorf("status after the session = %q; want the one edited file", status)
	}
	if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), "answer = 42") {
		t.Errorf("after the session the file is %q, %v", content, err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("the session wrote outside its worktree")
	}
	if after, err := os.ReadFile(dotGit); err != nil || string(after) != string(before) {
		t.Errorf("the session changed .git: %q, %v", after, err)
	}
}

// testRuns has an author build and run the code, for which the toolchain's caches
// have to be in reach.
func testRuns(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	b.provide(t, enginetest.NewThinker(t, func(n int, call enginetest.Call) enginetest.Turn {
		// A CLI may not wait for a command's end, which is late on a busy machine.
		running := stillRuns.FindSubmatch(call.Body)
		switch {
		case n == 0:
			return s.shell("go -C " + b.dir + " run .")
		case running != nil && !strings.Contains(string(call.Body), "Process exited with code"):
			return enginetest.Turn{Tool: "write_stdin", Input: map[string]any{"session_id": json.Number(running[1]), "chars": ""}}
		}
		return enginetest.Turn{Text: []string{"It runs."}}
	}))
	enginetest.Write(t, filepath.Join(b.dir, "go.mod"), "module acme.example/answer\n")
	enginetest.Write(t, filepath.Join(b.dir, "a.go"), "package main\n\nfunc main() { println(\"the answer is\", 40+2) }\n")
	b.run(t, b.author("go -C *"))
	if !strings.Contains(b.sent(), "the answer is 42") {
		t.Errorf("the program did not run: %s", b.sent()[max(0, len(b.sent())-2000):])
	}
}

// stillRuns is how codex tells of a command that it does not wait for.
var stillRuns = regexp.MustCompile(`Process running with session ID (\d+)`)

// play gives a bench a provider for turns that could be written only once its
// directory was there.
func play(t *testing.T, b *bench, turns ...enginetest.Turn) {
	t.Helper()
	b.provide(t, enginetest.NewProvider(t, turns...))
}

// provide gives a bench another provider.
func (b *bench) provide(t *testing.T, provider *enginetest.Provider) {
	t.Helper()
	b.provider = provider
	b.program.Environ = append(append(b.environ(b.provider.URL), "PATH="+os.Getenv("PATH")), secrets...)
	b.reset(t)
}

func testHang(point enginetest.HangPoint) func(*testing.T, subject) {
	return func(t *testing.T, s subject) {
		b := newBench(t, s, nil, enginetest.Turn{Text: []string{"never"}, Hang: point})
		_, err := b.idles(t, b.reviewer())
		wantClass(t, err, engine.Idle)
	}
}

func testSlow(t *testing.T, s subject) {
	text := []string{"Slowly", " but", " surely", "."}
	b := newBench(t, s, nil, enginetest.Turn{Text: text, Interval: s.idle / 3})
	result, err := b.idles(t, b.reviewer())
	if err != nil || result.Text != strings.Join(text, "") {
		t.Errorf("text = %q, %v", result.Text, err)
	}
}

func testContextFull(t *testing.T, s subject) {
	b := newBench(t, s, nil, s.read("a.go"), enginetest.Turn{Text: []string{"half"}, Stop: enginetest.StopContext})
	b.fails(t, t.Context(), b.reviewer(), engine.ContextOverflow)
}

// testPromptTooLarge: no provider is asked, and the failure says what to do.
func testPromptTooLarge(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"never"}})
	_, err := enginetest.Run(t.Context(), b.engine, b.reviewer(), strings.Repeat("Go on.\n", 9<<20/7))
	wantClass(t, err, engine.PromptTooLarge)
	if n := len(b.provider.Calls()); n > 0 || err != nil && !strings.Contains(err.Error(), "split the change") {
		t.Errorf("the provider was asked %d times: %v", n, err)
	}
}

func testUnreachable(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{})
	b.program.Environ = append(b.environ("http://127.0.0.1:9"), "PATH="+os.Getenv("PATH"))
	b.reset(t)
	b.fails(t, t.Context(), b.reviewer(), engine.Network)
}

func testRetryAfter(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Fault: enginetest.TooMany, RetryAfter: 2 * time.Second})
	if failure := b.fails(t, t.Context(), b.reviewer(), engine.RateLimited); failure.RetryAfter < 2*time.Second {
		t.Errorf("retry after %s; want the 2s of the provider at least", failure.RetryAfter)
	}
}

// testRetryMidway: the session waits for as long as the provider asks, and keeps what it has read.
func testRetryMidway(t *testing.T, s subject) {
	b := newBench(t, s, nil, s.read("a.go"), enginetest.Turn{Fault: enginetest.TooMany, RetryAfter: 11 * time.Second},
		enginetest.Turn{Text: []string{"the answer"}})
	if result := b.run(t, b.reviewer()); result.Text != "the answer" || result.Retries != 1 {
		t.Errorf("text = %q after %d retries", result.Text, result.Retries)
	}
}

// testOverloadMidway: the session outlasts an overload of some seconds for which the provider names no end.
func testOverloadMidway(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	var until time.Time
	b.provide(t, enginetest.NewThinker(t, func(n int, _ enginetest.Call) enginetest.Turn {
		switch {
		case n == 0:
			return s.read("a.go")
		case until.IsZero():
			until = time.Now().Add(10 * time.Second)
		}
		if time.Now().Before(until) {
			return enginetest.Turn{Fault: enginetest.Overloaded}
		}
		return enginetest.Turn{Text: []string{"the answer"}}
	}))
	req, told := b.reviewer(), 0
	req.Progress = func(p engine.Progress) {
		if p.Kind == engine.ProgressRetry {
			told++
		}
	}
	if result := b.run(t, req); result.Text != "the answer" || result.Retries == 0 || told < result.Retries {
		t.Errorf("text = %q after %d retries, of which %d were reported", result.Text, result.Retries, told)
	}
}

func testOutOfTime(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"no", "t", " in", " time"}, Think: 1000, Interval: 100 * time.Millisecond})
	req := b.reviewer()
	req.Timeout = 3 * time.Second
	b.fails(t, t.Context(), req, engine.Timeout)
}

func testMissing(t *testing.T, s subject) {
	b := newBench(t, s, []string{"no-such-program-anywhere"}, enginetest.Turn{})
	if failure := b.fails(t, t.Context(), b.reviewer(), engine.Missing); !strings.Contains(failure.Message, "npm install -g") {
		t.Errorf("message without a remedy: %s", failure.Message)
	}
	if _, err := b.engine.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "npm install -g") {
		t.Errorf("probe = %v; want a remedy", err)
	}
}

func testNoLogin(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"Hello."}})
	b.program.Environ = []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + b.provider.URL, "HOME=" + t.TempDir()}
	b.reset(t)
	if failure := b.fails(t, context.Background(), b.reviewer(), engine.Auth); !strings.Contains(failure.Message, "API_KEY") {
		t.Errorf("message without a remedy: %s", failure.Message)
	}
}
