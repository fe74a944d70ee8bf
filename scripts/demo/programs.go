package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// programs are the programs of the demo, by the directories of their source.
var programs = []string{"relay", "agent", "scripts/githubsim", "scripts/scriptedmodel"}

// build builds the programs, unless they were given.
func (d *demo) build(ctx context.Context) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE", "GOROOT", "GOMOD").Output()
	said := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	if err != nil || len(said) < 3 {
		steps.Fail("ask go where it keeps things: %w", err)
	}
	d.goCache, d.goBin = said[0], filepath.Join(said[1], "bin")
	switch {
	case d.bin == "" && filepath.Base(said[2]) != "go.mod":
		steps.Fail("start the demo in a checkout of touchstone, or name the built programs with --bin")
	case d.bin == "":
		d.compile(ctx)
		return
	}
	d.bin = steps.Got(filepath.Abs(d.bin))
	for _, p := range programs {
		if _, err := os.Stat(d.program(p)); err != nil {
			steps.Fail("%w: build the programs into %s, or leave out --bin", err, d.bin)
		}
	}
}

// compile builds the programs of the module like "make build", so that Go's cache from that is reused.
func (d *demo) compile(ctx context.Context) {
	d.bin = filepath.Join(d.dir, "bin")
	d.out.fact("programs", "being built; the first time takes a minute or two")
	for _, p := range programs {
		steps.Must(program.Build(ctx, d.program(p), "touchstone/"+p))
	}
}

// installed are the programs that people install, whose names differ from their directories.
var installed = map[string]string{"relay": "touchstone-relay", "agent": "touchstone"}

// program returns the path of a built program.
func (d *demo) program(folder string) string { return programIn(d.bin, folder) }

func programIn(dir, folder string) string {
	name, ok := installed[folder]
	if !ok {
		name = filepath.Base(folder)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// inherited are the variables that the demo's programs inherit from the user's environment. No other
// variables are passed, so that no token of the user is used or shown.
var inherited = []string{
	"LANG", "LC_ALL", "TERM",
	"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
}

// forClaude are additional variables with which claude finds its provider and its user.
var forClaude = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
}

// noProvider is a provider address for the scripted model, which contacts none: an agent starts without a
// login only if the provider is the user's own choice.
const noProvider = "ANTHROPIC_BASE_URL=http://127.0.0.1:9"

// claudeEnv lets an agent use the login of the user's own claude, although the agent's home is different.
func claudeEnv() ([]string, error) {
	dir := os.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find claude's login: %w", err)
		}
		dir = filepath.Join(home, ".claude")
	}
	return append(pass(forClaude), "CLAUDE_CONFIG_DIR="+dir), nil
}

// home creates a directory for one party of the demo and returns the environment of its programs: the home,
// the state and the temporary files are in that directory. The programs share the user's Go installation, the
// one that runs here, and its build cache; without the cache every run would compile the standard library.
// -trimpath, with which everything here is compiled, makes the cached results usable.
func (d *demo) home(party string) (dir string, env []string) {
	dir = filepath.Join(d.dir, party)
	tmp := filepath.Join(dir, "tmp")
	steps.Must(os.MkdirAll(tmp, 0o700))
	env = append(pass(inherited),
		"HOME="+dir, "USERPROFILE="+dir, "APPDATA="+dir, "LOCALAPPDATA="+dir,
		"XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_DATA_HOME="+filepath.Join(dir, "data"),
		"TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp,
		"PATH="+d.goBin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GOTOOLCHAIN=local",
		"GOCACHE="+d.goCache, "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1",
	)
	return dir, env
}

// pass returns those of the named variables that are set.
func pass(names []string) []string {
	var env []string
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
