package conformance_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/session"
	"touchstone/worktree/await"
)

// key is the login of every session, and must show up nowhere.
const key = "sk-canary-of-the-login"

// secrets are in the agent's environment and must not be in a session's.
var secrets = []string{"GITHUB_TOKEN=ghp_canary", "RELAY_TOKEN=rly_canary", "AWS_SECRET_ACCESS_KEY=aws_canary",
	"TOUCHSTONE_SECRET=ts_canary"}

// proxies are what a company may have; the gateway is not behind them.
var proxies = []string{"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9",
	"https_proxy=http://127.0.0.1:9"}

// subject is an engine under test.
type subject struct {
	name string
	// cli is its program, where that is called otherwise, and args those that it is started with.
	cli  string
	args []string
	// cannot says why its CLI does not meet a case, by the case's name.
	cannot map[string]string
	// model is what its sessions ask for.
	model string
	// environ is how it finds the provider and its login.
	environ func(url string) []string
	// idle is longer than it takes to start, unless the machine is busy.
	idle time.Duration
	// Calls of its tools.
	read, shell func(argument string) enginetest.Turn
	write       func(path, content string) enginetest.Turn
	search      func(pattern, dir string) enginetest.Turn
}

var subjects = []subject{
	{
		name: "acp", cli: "gemini", args: []string{"--acp"},
		cannot: map[string]string{"effort": "the Agent Client Protocol has no word for how much a model is to think"},
		model:  "gemini-2.5-pro", idle: 30 * time.Second,
		environ: func(url string) []string { return []string{"GEMINI_API_KEY=" + key, "GOOGLE_GEMINI_BASE_URL=" + url} },
		read: func(path string) enginetest.Turn {
			return enginetest.Turn{Tool: "read_file", Input: map[string]any{"file_path": path}}
		},
		shell: func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "run_shell_command", Input: map[string]any{"command": command, "description": "d"}}
		},
		search: func(pattern, dir string) enginetest.Turn {
			return enginetest.Turn{Tool: "grep_search", Input: map[string]any{"pattern": pattern, "dir_path": dir}}
		},
		write: func(path, content string) enginetest.Turn {
			return enginetest.Turn{Tool: "write_file", Input: map[string]any{"file_path": path, "content": content}}
		},
	},
	{
		name: "claude", idle: 15 * time.Second,
		environ: func(url string) []string {
			return []string{"ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + url, "CLAUDE_CODE_MAX_RETRIES=1"}
		},
		read: func(path string) enginetest.Turn {
			return enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": path}}
		},
		shell: func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "Bash", Input: map[string]any{"command": command, "description": "d"}}
		},
		search: func(pattern, dir string) enginetest.Turn {
			return enginetest.Turn{Tool: "Grep", Input: map[string]any{"pattern": pattern, "path": dir, "output_mode": "content"}}
		},
		write: func(path, content string) enginetest.Turn {
			return enginetest.Turn{Tool: "Write", Input: map[string]any{"file_path": path, "content": content}}
		},
	},
	{
		name:   "opencode",
		cannot: map[string]string{"prompt too large": "opencode passes on a prompt of any length, for the provider to refuse"},
		model:  "openai/gpt-5", idle: 30 * time.Second,
		environ: func(url string) []string { return []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + url + "/v1"} },
		read: func(path string) enginetest.Turn {
			return enginetest.Turn{Tool: "read", Input: map[string]any{"filePath": path}}
		},
		shell: func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "bash", Input: map[string]any{"command": command, "description": "d"}}
		},
		search: func(pattern, dir string) enginetest.Turn {
			return enginetest.Turn{Tool: "grep", Input: map[string]any{"pattern": pattern, "path": dir}}
		},
		write: func(path, content string) enginetest.Turn {
			// With OpenAI's models it has no other tool to write.
			lines := strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+")
			return enginetest.Turn{Tool: "apply_patch",
				Input: map[string]any{"patchText": "*** Begin Patch\n*** Add File: " + path + "\n+" + lines + "\n*** End Patch"}}
		},
	},
	{
		name: "codex", idle: 15 * time.Second,
		cannot:  map[string]string{"a read that fails": "codex reads by shell commands, which can fail after they have shown files"},
		environ: func(url string) []string { return []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + url + "/v1"} },
		read: func(path string) enginetest.Turn {
			return enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": "cat '" + path + "'"}}
		},
		shell: func(command string) enginetest.Turn {
			return enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": command, "yield_time_ms": 120_000}}
		},
		search: func(pattern, dir string) enginetest.Turn {
			return enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": "grep -rs '" + pattern + "' '" + dir + "/'"}}
		},
		write: func(path, content string) enginetest.Turn {
			return enginetest.Turn{Tool: "exec_command", Input: map[string]any{"cmd": "printf %s '" + content + "' > '" + path + "'"}}
		},
	},
}

// answerFiles are the files in the worktree of each session.
var answerFiles = map[string]string{"a.go": "package acme\n\nconst answer = 41\n"}

// bench is one case's engine, its provider and the directory that its sessions
// work in.
type bench struct {
	subject
	engine   engine.Engine
	provider *enginetest.Provider
	program  session.Program
	dir      string
}

// newBench sets an engine up with a provider that plays the turns. Words before
// the CLI's own path stand in for how it misbehaves.
func newBench(t *testing.T, s subject, wrapper []string, turns ...enginetest.Turn) *bench {
	t.Helper()
	b := &bench{subject: s, provider: enginetest.NewProvider(t, turns...), dir: enginetest.Worktree(t, answerFiles)}
	b.program = session.Program{
		Command: append(append(wrapper, enginetest.CLI(t, cmp.Or(s.cli, s.name))), s.args...),
		Environ: append(append(s.environ(b.provider.URL), "PATH="+os.Getenv("PATH")), secrets...),
		TempDir: t.TempDir(), Confine: true,
	}
	b.reset(t)
	return b
}

// reset makes the engine again, of the program as it is now.
func (b *bench) reset(t *testing.T) {
	t.Helper()
	var err error
	if b.engine, err = engines.New(b.name, b.program); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) reviewer() engine.Request {
	return engine.Request{Role: engine.Reviewer, Dir: b.dir, Model: b.model, Timeout: await.Patience, IdleTimeout: await.Patience,
		Instructions: "ORDERS-OF-THE-ROLE"}
}

func (b *bench) author(allow ...string) engine.Request {
	return engine.Request{Role: engine.Author, Dir: b.dir, Model: b.model, Timeout: await.Patience, IdleTimeout: await.Patience, Allow: allow}
}

// run holds a session of one turn that has to end well.
func (b *bench) run(t *testing.T, req engine.Request) engine.Result {
	t.Helper()
	result, err := enginetest.Run(t.Context(), b.engine, req, "Go on.")
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// idles holds a session of one turn that may be silent for as long as its CLI takes to
// start: if that was too short to ask the provider, the next one may be so for longer.
func (b *bench) idles(t *testing.T, req engine.Request) (engine.Result, error) {
	t.Helper()
	for req.IdleTimeout = b.idle; ; req.IdleTimeout *= 2 {
		result, err := enginetest.Run(t.Context(), b.engine, req, "Go on.")
		if len(b.provider.Calls()) > 0 || req.IdleTimeout > await.Patience {
			return result, err
		}
	}
}

// fails holds a session of one turn that has to fail in a class.
func (b *bench) fails(t *testing.T, ctx context.Context, req engine.Request, class engine.Class) *engine.Error {
	t.Helper()
	_, err := enginetest.Run(ctx, b.engine, req, "Go on.")
	var failure *engine.Error
	if !errors.As(err, &failure) || failure.Class != class {
		t.Fatalf("error = %v (%+v); want one of class %s", err, failure, class)
	}
	if strings.Contains(failure.Message, key) {
		t.Errorf("the login is in the message: %s", failure.Message)
	}
	return failure
}

// sent is all that the provider was sent.
func (b *bench) sent() string {
	var all strings.Builder
	for _, call := range b.provider.Calls() {
		all.Write(call.Body)
	}
	return all.String()
}
