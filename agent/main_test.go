package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/agent/bounded"
	"touchstone/agent/cli"
	"touchstone/agent/engine/process"
	"touchstone/agent/githubsim/simtest"
	"touchstone/agent/impact/golang"
	"touchstone/agent/quality"
)

// modelBinary is the scripted model, built once for all scripts.
var modelBinary string

// withModel builds the scripted model around a run of the tests.
type withModel struct{ m *testing.M }

func (w withModel) Run() int {
	dir, err := os.MkdirTemp("", "touchstone-agent-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	modelBinary = filepath.Join(dir, "scriptedmodel"+map[bool]string{true: ".exe"}[runtime.GOOS == "windows"])
	build := exec.Command("go", "build", "-trimpath", "-o", modelBinary, "touchstone/scripts/scriptedmodel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the Makefile, so that both use what either has compiled
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return w.m.Run()
}

func TestMain(m *testing.M) {
	process.Bootstrap()
	bounded.Bootstrap(golang.Task, quality.Task)
	testscript.Main(withModel{m}, map[string]func(){"touchstone": main, "xdg-open": browse})
}

// TestScripts runs the binary. Each script has a simulated GitHub of its own,
// and a configuration in the place where the agent looks for it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			w := newWorld(env.T().(testing.TB), env.WorkDir)
			env.Values[worldKey{}] = w
			for name, dir := range map[string]string{
				"HOME": "home", "XDG_CONFIG_HOME": "config", "APPDATA": "config", "XDG_STATE_HOME": "state", "LOCALAPPDATA": "state",
			} {
				env.Setenv(name, filepath.Join(env.WorkDir, dir))
			}
			env.Setenv("GITHUB_TOKEN", simtest.Token(judge))
			env.Setenv("GITHUB_WEB", w.URL)
			provider := httptest.NewServer(http.NotFoundHandler())
			env.Defer(provider.Close)
			env.Setenv("ANTHROPIC_BASE_URL", provider.URL)
			// Else each command takes a second to exit, as long as the race detector waits for
			// goroutines that still run (https://go.dev/doc/articles/race_detector#Options).
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"as": as, "chosen": chosen, "exits": exits, "clean": clean, "collect": collect, "traced": inWorld((*world).traced), "metered": metered,
			"invited": invited, "refused": refused, "program": program, "shows": inWorld((*world).shows), "terminate": terminate,
			"strict": inWorld((*world).strict), "settings": inWorld((*world).settings), "push": inWorld((*world).push),
			"pull": inWorld((*world).pull), "unasked": inWorld((*world).unasked), "model": inWorld((*world).model),
			"reword": inWorld((*world).reword), "config": inWorld((*world).config),
			"reviewed": inWorld((*world).reviewed), "done": inWorld((*world).done), "commented": inWorld((*world).commented),
			"settle": inWorld((*world).settle), "merged": inWorld((*world).merged),
			"session": inWorld((*world).session), "sessions": inWorld((*world).sessions), "label": inWorld((*world).label),
			"act": runAct, "event": writeEvent,
			"administered": administered, "apps": inWorld((*world).apps), "hooked": inWorld((*world).hooked),
			"suspend": inWorld((*world).suspend), "counting": inWorld((*world).counting),
			"said": inWorld((*world).said), "dislike": inWorld((*world).dislike), "forbid": inWorld((*world).forbid),
		},
	})
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// inWorld makes a command of something that is done to, or expected of, GitHub
// or the model.
func inWorld(do func(w *world, args []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		err := do(worldOf(ts), args)
		if !neg {
			ts.Check(err)
		} else if err == nil {
			ts.Fatalf("it holds, but should not")
		}
	}
}

// as chooses whose token the agent has: as LOGIN.
func as(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("GITHUB_TOKEN", simtest.Token(args[0]))
}

// exits runs a command and wants an exit code, and output as clean wants it:
// exits CODE COMMAND ARG...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("it exits %d, want %d", got, want)
	}
	clean(ts, false, nil)
	if want == cli.ExitFailed || want == cli.ExitUsage {
		ts.Check(sentence(ts.ReadFile("stderr")))
	}
}

var trace = regexp.MustCompile(`goroutine \d+|panic:|runtime error`)

// clean wants the latest output to hold no secret and no stack trace.
func clean(ts *testscript.TestScript, _ bool, _ []string) {
	for _, stream := range []string{"stdout", "stderr"} {
		text := ts.ReadFile(stream)
		if strings.Contains(text, simtest.Token("")) {
			ts.Fatalf("%s holds a token:\n%s", stream, text)
		}
		if trace.MatchString(text) {
			ts.Fatalf("%s holds a stack trace:\n%s", stream, text)
		}
	}
}

// sentence wants what a person reads last to be the program's own words.
func sentence(stderr string) error {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, "touchstone: "); ok && len(strings.Fields(text)) >= 5 {
			return nil
		}
	}
	return fmt.Errorf("stderr holds no sentence that says what happened:\n%s", stderr)
}

// terminate asks everything in the background to end, as an init system does.
func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}
