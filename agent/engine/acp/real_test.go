package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/acp"
	"touchstone/agent/engine/enginetest"
)

// gemini is an engine of the real CLI, which asks a scripted provider.
func gemini(t *testing.T, p *enginetest.Provider) *acp.Engine {
	t.Helper()
	return &acp.Engine{
		Command: []string{enginetest.CLI(t, "gemini"), "--acp"}, TempDir: t.TempDir(), Confine: true,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + p.URL},
	}
}

func TestRealMentions(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"ok"}})
	req := request(engine.Reviewer, t.TempDir())
	req.Model = "gemini-2.5-pro"
	enginetest.WantNoMentions(t, gemini(t, p), p, req)
}

// TestRealProbe also has a session without a model, which would ask several.
func TestRealProbe(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t, enginetest.Turn{Text: []string{"never"}})
	e := gemini(t, p)
	version, err := e.Probe(t.Context())
	if err != nil || !strings.HasPrefix(version.Number, "gemini-cli ") || version.Provider != p.URL || version.Direct != "" {
		t.Errorf("probe = %+v, %v", version, err)
	}
	if _, err := e.Open(t.Context(), request(engine.Reviewer, t.TempDir())); err == nil || !strings.Contains(err.Error(), "set engine.model") {
		t.Errorf("without a model: %v", err)
	}
	if len(p.Calls()) > 0 {
		t.Error("the provider was asked")
	}
}

// others are agents that nothing is known of but their command, the variables of their login, and the names of
// their tools.
var others = []struct {
	name, args  string
	environ     func(url string) []string
	read, shell func(argument string) enginetest.Turn
	write       func(path string) enginetest.Turn
}{
	{
		name: "goose", args: "acp",
		environ: func(url string) []string {
			return []string{"GOOSE_PROVIDER=openai", "OPENAI_HOST=" + url, "OPENAI_API_KEY=k", "GOOSE_MODEL=gpt-4.1"}
		},
		read:  func(path string) enginetest.Turn { return calling("read", "path", path) },
		shell: func(command string) enginetest.Turn { return calling("shell", "command", command) },
		write: func(path string) enginetest.Turn { return calling("write", "path", path, "content", "WRITTEN") },
	},
	{
		name: "copilot", args: "--acp",
		environ: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=k", "COPILOT_MODEL=gpt-4.1",
				"COPILOT_OFFLINE=true"}
		},
		read:  func(path string) enginetest.Turn { return calling("view", "path", path) },
		shell: func(command string) enginetest.Turn { return calling("bash", "command", command, "description", "d") },
		write: func(path string) enginetest.Turn { return calling("create", "path", path, "file_text", "WRITTEN") },
	},
}

// calling is the model's call of a tool, with the names and values of its input.
func calling(tool string, input ...any) enginetest.Turn {
	turn := enginetest.Turn{Tool: tool, Input: map[string]any{}}
	for i := 0; i < len(input); i += 2 {
		turn.Input[input[i].(string)] = input[i+1]
	}
	return turn
}

// TestRealGooseAndCopilotKeepToTheirRoles has both read, write and run, as a reviewer and as an author. It runs
// where TOUCHSTONE_GOOSE and TOUCHSTONE_COPILOT name them: together, they take half a gigabyte.
func TestRealGooseAndCopilotKeepToTheirRoles(t *testing.T) {
	for _, o := range others {
		program := os.Getenv("TOUCHSTONE_" + strings.ToUpper(o.name))
		if program == "" {
			continue
		}
		for _, role := range []engine.Role{engine.Reviewer, engine.Author} {
			t.Run(o.name+" as "+string(role), func(t *testing.T) {
				dir, outside := checkout(t)
				req := request(role, dir)
				if role == engine.Author {
					req.Allow = []string{"cd *", "touch allowed"}
				}
				do := func(turn enginetest.Turn) string {
					script := []enginetest.Turn{turn, {Text: []string{"Done."}}}
					if o.name == "goose" { // which also asks for the session's title, some time
						script = append([]enginetest.Turn{turn}, script...)
					}
					p := enginetest.NewProvider(t, script...)
					e := &acp.Engine{
						Command: append([]string{program}, strings.Fields(o.args)...), TempDir: t.TempDir(), Confine: true,
						Environ: append(o.environ(p.URL), "PATH="+os.Getenv("PATH")),
					}
					for _, entry := range o.environ(p.URL) {
						name, _, _ := strings.Cut(entry, "=")
						e.Variables = append(e.Variables, name)
					}
					result, err := enginetest.Run(t.Context(), e, req, "Do it.")
					t.Logf("%s: %q, %+v, %v", turn.Tool, result.Text, result.Usage, err)
					var told strings.Builder
					for _, call := range p.Calls() {
						told.Write(call.Body)
					}
					return told.String()
				}
				there := func(path string) bool { _, err := os.Stat(path); return err == nil }
				expect := func(what string, got, want bool) {
					t.Helper()
					if got != want {
						t.Errorf("%s: %v, want %v", what, got, want)
					}
				}
				if err := os.WriteFile(filepath.Join(dir, "marked"), []byte("INSIDE-MARK"), 0o600); err != nil {
					t.Fatal(err)
				}
				author := role == engine.Author
				expect("reads inside", strings.Contains(do(o.read(filepath.Join(dir, "marked"))), "INSIDE-MARK"), true)
				expect("reads outside", strings.Contains(do(o.read(filepath.Join(outside, "secret"))), "SECRET"), false)
				do(o.write(filepath.Join(dir, "written")))
				expect("writes inside", there(filepath.Join(dir, "written")), author)
				do(o.write(filepath.Join(outside, "written")))
				expect("writes outside", there(filepath.Join(outside, "written")), false)
				do(o.shell("cd " + dir + " && touch allowed"))
				expect("runs what is allowed", there(filepath.Join(dir, "allowed")), author)
				do(o.shell("cd " + dir + " && touch forbidden"))
				expect("runs what is not", there(filepath.Join(dir, "forbidden")), false)
			})
		}
	}
}
