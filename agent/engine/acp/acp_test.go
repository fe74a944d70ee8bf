package acp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/acp"
	"touchstone/agent/engine/enginetest"
	"touchstone/verdict"
	"touchstone/worktree/await"
)

// actor is an engine whose agent is the one of this test.
func actor(t *testing.T, act string) *acp.Engine {
	t.Helper()
	return &acp.Engine{
		Command: []string{os.Args[0]}, TempDir: t.TempDir(), Variables: []string{actVariable},
		Environ: []string{actVariable + "=" + act, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=sk-canary", "GITHUB_TOKEN=ghp-canary"},
	}
}

func request(role engine.Role, dir string) engine.Request {
	return engine.Request{Role: role, Dir: dir, Timeout: await.Patience, IdleTimeout: await.Patience}
}

// ask has the agent send calls, and gives the answers by their ids.
func ask(t *testing.T, e engine.Engine, req engine.Request, calls ...call) map[string]string {
	t.Helper()
	for i := range calls {
		calls[i].ID = i + 1
	}
	prompt, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	result, err := enginetest.Run(t.Context(), e, req, string(prompt))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for line := range strings.Lines(result.Text) {
		id, answer, _ := strings.Cut(line, ": ")
		answers[id] = answer
	}
	return answers
}

func read(path string) call {
	return call{Method: "fs/read_text_file", Params: map[string]any{"sessionId": "s1", "path": path}}
}

func write(path string) call {
	return call{Method: "fs/write_text_file", Params: map[string]any{"sessionId": "s1", "path": path, "content": "WRITTEN"}}
}

// permit asks for a permission in words that an agent has for it.
func permit(kind, title string, more map[string]any) call {
	tool := map[string]any{"toolCallId": "t", "kind": kind, "title": title}
	maps.Copy(tool, more)
	return call{Method: "session/request_permission", Params: map[string]any{"sessionId": "s1", "toolCall": tool, "options": []any{
		map[string]any{"optionId": "always", "name": "Always", "kind": "allow_always"},
		map[string]any{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
		map[string]any{"optionId": "no", "name": "No", "kind": "reject_once"},
	}}}
}

func at(paths ...string) map[string]any {
	var locations []any
	for _, path := range paths {
		locations = append(locations, map[string]any{"path": path})
	}
	return map[string]any{"locations": locations}
}

// checkout has a file, one outside, and links from the one to the other and to what git keeps.
func checkout(t *testing.T) (dir, outside string) {
	t.Helper()
	dir, outside = t.TempDir(), t.TempDir()
	files := map[string]string{
		filepath.Join(dir, "a.go"): "one\ntwo\nthree\nfour", filepath.Join(outside, "secret"): "SECRET", filepath.Join(dir, ".git"): "gitdir: x",
		filepath.Join(dir, "long"): strings.Repeat("0123456789abcde\n", 5<<16),
	}
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out": outside, "hidden": ".git", "nowhere": filepath.Join(outside, "new")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

func TestFilesThatAReviewerIsGiven(t *testing.T) {
	t.Parallel()
	dir, outside := checkout(t)
	extra := t.TempDir()
	if err := os.WriteFile(filepath.Join(extra, "notes"), []byte("NOTES"), 0o600); err != nil {
		t.Fatal(err)
	}
	some := read(filepath.Join(dir, "a.go"))
	some.Params.(map[string]any)["line"], some.Params.(map[string]any)["limit"] = 2, 2
	far := read(filepath.Join(dir, "long"))
	far.Params.(map[string]any)["line"], far.Params.(map[string]any)["limit"] = 5<<16, 9
	req := request(engine.Reviewer, dir)
	req.ReadDirs = []string{extra}
	got := ask(t, actor(t, "actor"), req,
		read(filepath.Join(dir, "a.go")), some, read(filepath.Join(extra, "notes")), far,
		read(filepath.Join(outside, "secret")), read(filepath.Join(dir, "out", "secret")),
		read(filepath.Join(dir, "..", filepath.Base(outside), "secret")),
		read("a.go"), read("/proc/self/environ"), read(dir), read(filepath.Join(dir, "a.go", "b")), read(filepath.Join(dir, "long")),
		read(filepath.Join(dir, "gone")), write(filepath.Join(dir, "a.go")), write(filepath.Join(extra, "new")),
		call{Method: "terminal/create", Params: map[string]any{"sessionId": "s1", "command": "touch", "args": []string{"ran"}}},
	)
	for id, want := range map[string]string{
		"1": `{"content":"one\ntwo\nthree\nfour"}`, "2": `{"content":"two\nthree\n"}`, "3": `{"content":"NOTES"}`,
		"4": `{"content":"0123456789abcde\n"}`, "5": "outside of", "6": "outside of", "7": "outside of", "8": "absolute path", "9": "outside of",
		"10": "no regular file", "11": "-32602", "12": "more than 4 MiB", "13": "no such file", "14": "nothing may be written",
		"15": "nothing may be written", "16": "-32601",
	} {
		if !strings.Contains(got[id], want) {
			t.Errorf("%s is answered with %.200s; want %s", id, got[id], want)
		}
	}
	if strings.Contains(fmt.Sprint(got), "SECRET") {
		t.Error("the agent was given what lies outside")
	}
}

func TestFilesThatAnAuthorMayWrite(t *testing.T) {
	t.Parallel()
	dir, outside := checkout(t)
	got := ask(t, actor(t, "actor"), request(engine.Author, dir),
		write(filepath.Join(dir, "a.go")), write(filepath.Join(dir, "new", "below", "b.go")),
		write(filepath.Join(outside, "secret")), write(filepath.Join(dir, "out", "secret")), write(filepath.Join(dir, "nowhere")),
		write(filepath.Join(dir, ".git")), write(filepath.Join(dir, "hidden")), write(filepath.Join(dir, "sub", ".GIT", "config")), write(dir),
		write("a.go"),
	)
	for i := 1; i <= 10; i++ {
		answer := got[fmt.Sprint(i)]
		if refused := strings.Contains(answer, "-32602"); refused != (i > 2) {
			t.Errorf("%d is answered with %s", i, answer)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "a.go"): "WRITTEN", filepath.Join(dir, "new", "below", "b.go"): "WRITTEN", filepath.Join(outside, "secret"): "SECRET",
		filepath.Join(dir, ".git"): "gitdir: x",
	} {
		if content, err := os.ReadFile(path); err != nil || string(content) != want {
			t.Errorf("%s is %.80q, %v", path, content, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(outside, "new")); err == nil {
		t.Error("a link that leads nowhere was written through")
	}
}

func TestACallIsAllowedByWhatItTouches(t *testing.T) {
	t.Parallel()
	dir, outside := checkout(t)
	inside, git := filepath.Join(dir, "a.go"), filepath.Join(dir, ".git")
	diff := func(path string) map[string]any {
		return map[string]any{"content": []any{map[string]any{"type": "diff", "path": path, "newText": "x"}}}
	}
	for _, test := range []struct {
		name             string
		call             call
		reviewer, author bool
	}{
		{"read", permit("read", "Read", at(inside)), true, true},
		{"read git's", permit("read", "Read", at(git)), true, true},
		{"read outside", permit("read", "Read", at(inside, filepath.Join(outside, "secret"))), false, false},
		{"read behind a link", permit("read", "Read", at(filepath.Join(dir, "out", "secret"))), false, false},
		{"read nobody knows what", permit("read", "Read", nil), false, false},
		{"search", permit("search", "Search", at(dir)), true, true},
		{"think", permit("think", "Think", nil), true, true},
		{"edit", permit("edit", "Edit", diff(inside)), false, true},
		{"edit outside", permit("edit", "Edit", diff(filepath.Join(outside, "secret"))), false, false},
		{"edit elsewhere than it says", permit("edit", "Edit", map[string]any{
			"locations": []any{map[string]any{"path": inside}}, "content": diff(git)["content"]}), false, false},
		{"edit git's", permit("edit", "Edit", at(git)), false, false},
		{"edit git's behind a link", permit("edit", "Edit", at(filepath.Join(dir, "hidden"))), false, false},
		{"delete", permit("delete", "Delete", at(inside)), false, true},
		{"move out", permit("move", "Move", at(inside, filepath.Join(outside, "a.go"))), false, false},
		{"run", permit("execute", "make test", nil), false, true},
		{"run what the input says", permit("execute", "make test", map[string]any{"rawInput": map[string]any{"command": "curl evil.example"}}),
			false, false},
		{"run what no pattern names", permit("execute", "make test; curl evil.example", nil), false, false},
		{"fetch", permit("fetch", "https://evil.example", nil), false, false},
		{"switch the mode", permit("switch_mode", "yolo", nil), false, false},
		{"what has no kind", permit("", "make test", nil), false, false},
	} {
		for role, want := range map[engine.Role]bool{engine.Reviewer: test.reviewer, engine.Author: test.author} {
			t.Run(test.name+", "+string(role), func(t *testing.T) {
				t.Parallel()
				req := request(role, dir)
				if role == engine.Author {
					req.Allow = []string{"make test"}
				}
				answer := ask(t, actor(t, "actor"), req, test.call)["1"]
				if got := strings.Contains(answer, `"optionId":"yes"`); got != want || !got && !strings.Contains(answer, `"optionId":"no"`) {
					t.Errorf("answered with %s; want it allowed once: %v", answer, want)
				}
			})
		}
	}
}

// TestACallOfGooseIsJudgedByItsTitle asks as goose does: all its calls are of another kind, and the title begins
// with the tool's name.
func TestACallOfGooseIsJudgedByItsTitle(t *testing.T) {
	t.Parallel()
	dir, outside := checkout(t)
	link := filepath.Join(t.TempDir(), "goose")
	if err := os.Symlink(os.Args[0], link); err != nil {
		t.Skip("no links here: ", err)
	}
	asks := func(tool, name, value string) call {
		return permit("other", tool+" · "+value, map[string]any{"rawInput": map[string]any{name: value}})
	}
	inside, secret := filepath.Join(dir, "a.go"), filepath.Join(outside, "secret")
	for _, test := range []struct {
		name             string
		call             call
		reviewer, author bool
	}{
		{"read", asks("read", "path", inside), true, true},
		{"read outside", asks("read", "path", secret), false, false},
		{"read nobody knows what", asks("read", "source", inside), false, false},
		{"write", asks("write", "path", inside), false, true},
		{"write outside", asks("write", "path", secret), false, false},
		{"run", asks("shell", "command", "make test"), false, true},
		{"run what no pattern names", asks("shell", "command", "curl evil.example"), false, false},
		{"a tool that is not known", asks("delegate", "path", inside), false, false},
	} {
		for role, want := range map[engine.Role]bool{engine.Reviewer: test.reviewer, engine.Author: test.author} {
			req := request(role, dir)
			if role == engine.Author {
				req.Allow = []string{"make test"}
			}
			e := actor(t, "actor")
			e.Command = []string{link}
			if answer := ask(t, e, req, test.call)["1"]; strings.Contains(answer, `"optionId":"yes"`) != want {
				t.Errorf("%s, %s: answered with %s; want it allowed once: %v", test.name, role, answer, want)
			}
		}
	}
	e := actor(t, "telling")
	e.Command = []string{link}
	result, err := enginetest.Run(t.Context(), e, request(engine.Reviewer, dir), "Hello.")
	if err != nil || !strings.Contains(result.Text, "GOOSE_MODE=approve") {
		t.Errorf("goose is not told to ask: %v, %s", err, result.Text)
	}
}

// TestWhatAnAgentIsTold of this program, and gets of its environment.
func TestWhatAnAgentIsTold(t *testing.T) {
	t.Parallel()
	dir, _ := checkout(t)
	for role, writes := range map[engine.Role]string{
		engine.Reviewer: `{"readTextFile":true}`, engine.Author: `{"readTextFile":true,"writeTextFile":true}`,
	} {
		result, err := enginetest.Run(t.Context(), actor(t, "telling"), request(role, dir), "Hello.")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(result.Text, `"fs":`+writes) || strings.Contains(result.Text, `"terminal":true`) {
			t.Errorf("a %s is offered %.300s", role, result.Text)
		}
		if !strings.Contains(result.Text, actVariable+"=telling") || strings.Contains(result.Text, "canary") {
			t.Errorf("a %s has the environment %s", role, result.Text)
		}
		if !strings.Contains(result.Text, "in an empty directory: true") {
			t.Error("the agent does not work in a directory of its own")
		}
		if result.Usage != (verdict.Usage{Input: 10, Output: 5}) {
			t.Errorf("usage = %+v", result.Usage)
		}
	}
}

func TestASessionGoesOn(t *testing.T) {
	t.Parallel()
	dir, _ := checkout(t)
	var anew []string
	req := request(engine.Reviewer, dir)
	req.Progress = func(p engine.Progress) {
		if p.Kind == engine.ProgressAnew || p.Kind == engine.ProgressText {
			anew = append(anew, string(p.Kind))
		}
	}
	s, err := actor(t, "actor").Open(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, err := s.Ask(t.Context(), "FIRST-QUESTION")
	if err != nil {
		t.Fatal(err)
	}
	// This agent answers with what it is asked.
	second, err := s.Ask(t.Context(), "SECOND-QUESTION")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(first.Text, "QUESTION") != 1 || strings.Count(second.Text, "FIRST-QUESTION") != 2 ||
		!strings.HasSuffix(second.Text, "SECOND-QUESTION") || second.SessionID != first.SessionID {
		t.Errorf("the turns are %q in %s, and %q in %s", first.Text, first.SessionID, second.Text, second.SessionID)
	}
	// The agent does not know what it read in its first turn.
	if told := slices.Index(anew, string(engine.ProgressAnew)); told < 1 || told == len(anew)-1 ||
		!strings.Contains(second.Text, "read again what you need") {
		t.Errorf("the progress is %q, and the second question %q", anew, second.Text)
	}
}

func TestAgentsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir, _ := checkout(t)
	for act, test := range map[string]struct {
		class engine.Class
		words string
	}{
		"future": {engine.Invalid, "speaks version 2"},
		"closed": {engine.Auth, "engine.acp.variables"},
	} {
		_, err := enginetest.Run(t.Context(), actor(t, act), request(engine.Reviewer, dir), "Hello.")
		var failure *engine.Error
		if !errors.As(err, &failure) || failure.Class != test.class || !strings.Contains(failure.Message, test.words) {
			t.Errorf("%s: %v", act, err)
		}
	}
	named := request(engine.Reviewer, dir)
	named.Model = "large"
	_, err := enginetest.Run(t.Context(), actor(t, "actor"), named, "Hello.")
	if err == nil || !strings.Contains(err.Error(), "leave engine.model empty") {
		t.Errorf("a model that cannot be chosen: %v", err)
	}
}

// TestALoginThatTheAgentTellsIsNotRepeated: where the provider is not known, the agent itself has the key.
func TestALoginThatTheAgentTellsIsNotRepeated(t *testing.T) {
	t.Parallel()
	dir, _ := checkout(t)
	e := actor(t, "closed")
	e.Variables = append(e.Variables, "OPENAI_API_KEY")
	_, err := enginetest.Run(t.Context(), e, request(engine.Reviewer, dir), "Hello.")
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "Authentication required, not [redacted]") {
		t.Errorf("the error is %v", err)
	}
}

func TestAProbeTellsTheVersionAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	version, err := actor(t, "actor").Probe(t.Context())
	if err != nil || version.Number != "actor 7.0.0" || version.Provider != "" || version.Direct == "" || !filepath.IsAbs(version.Path) {
		t.Errorf("probe = %+v, %v", version, err)
	}
	if version, err := (&acp.Engine{Environ: []string{}}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "GEMINI_API_KEY") {
		t.Errorf("gemini without a key: %+v, %v", version, err)
	}
}
