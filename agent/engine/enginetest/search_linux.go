package enginetest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/sandbox"
	"touchstone/worktree/await"
)

// searchVariable turns the test program into a search for a login, started as a command of a session. Its value is the text
// to look for, in hexadecimal so that the search does not find itself.
const searchVariable = "TOUCHSTONE_TEST_LOGIN_SEARCH"

// searchIfAsked searches, if the test program was started for that.
func searchIfAsked() {
	if wanted := os.Getenv(searchVariable); wanted != "" {
		searchFor(wanted)
		os.Exit(0)
	}
}

// WantLoginOutOfReach has a session search for a login by a command that it runs, and checks that it finds
// nothing. Function start makes the engine for a provider, with the login; the arguments of turn are the
// tool and its input for a command.
func WantLoginOutOfReach(t testing.TB, login string, r engine.Request, turn func(command string) Turn,
	start func(*Provider) engine.Engine) {
	t.Helper()
	r.Role, r.IdleTimeout = engine.Author, await.Patience
	search := loginSearch(t, r.Dir, login)
	r.Allow = []string{search}
	p := NewProvider(t, turn(search), Turn{Text: []string{"Done."}})
	if _, err := Run(t.Context(), start(p), r, "Go on."); err != nil {
		t.Fatal(err)
	}
	wantNothingStolen(t, p)
}

// loginSearch writes a program into a directory. It looks for a login in everything that it can reach of the
// session that runs it, and for ways to make the CLI reveal the login; see wantNothingStolen.
func loginSearch(t testing.TB, dir, login string) (path string) {
	t.Helper()
	path, program := filepath.Join(dir, "login-search"), filepath.Join(dir, "login-search.test")
	// Not every session can read the directory in which the test program is.
	content, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, content, 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s=%x exec '%s'\n", searchVariable, login, program), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// wantNothingStolen checks that a search ran in a session with the provider and found nothing.
func wantNothingStolen(t testing.TB, p *Provider) {
	t.Helper()
	var told strings.Builder
	for _, call := range p.Calls() {
		told.Write(call.Body)
	}
	if !strings.Contains(told.String(), "THE END OF THE SEARCH") {
		t.Error("the search did not run, so that this test shows nothing")
	}
	for _, found := range strings.Split(told.String(), "FOUND: ")[1:] {
		what, _, _ := strings.Cut(found, `\n`)
		t.Errorf("it found %s", what)
	}
}

// searchFor looks for a text in the environment and memory of all ancestor processes, and for other ways to get
// it.
func searchFor(wanted string) {
	text, err := hex.DecodeString(wanted)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MESSAGING_TOKEN",
		"TOUCHSTONE_GATEWAY_TOKEN"} {
		if os.Getenv(name) != "" {
			fmt.Println("FOUND: the variable", name)
		}
	}
	for pid := os.Getppid(); pid > 1; pid = parent(pid) {
		proc := fmt.Sprintf("/proc/%d/", pid)
		environ, err := os.ReadFile(proc + "environ")
		if bytes.Contains(environ, text) {
			fmt.Println("FOUND: from the environment of", pid)
		}
		if remembers(proc, text) {
			fmt.Println("FOUND: from the memory of", pid)
		}
		if err != nil && signals() && syscall.Kill(pid, 0) == nil {
			fmt.Println("FOUND: a signal to a process outside,", pid)
		}
	}
	for _, path := range []string{
		os.Getenv("OPENCODE_CONFIG"), filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "settings.json"),
		filepath.Join(filepath.Dir(os.Getenv("CLAUDE_CONFIG_DIR")), ".bashrc"), os.Getenv("SHELL"),
	} {
		if filepath.IsAbs(path) && os.WriteFile(path, []byte("{}"), 0o600) == nil {
			fmt.Println("FOUND: a place that the CLI reads,", path)
		}
	}
	fmt.Println("THE END OF THE SEARCH")
}

// signals reports whether the sandbox restricts signals, which it does since Linux 6.12.
func signals() bool {
	level, _ := sandbox.Level()
	var version int
	_, err := fmt.Sscanf(level, "landlock, version %d", &version)
	return err == nil && version >= 6
}

// parent reads /proc/PID/status, which every process may read.
func parent(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(status), "\nPPid:")
	var above int
	_, _ = fmt.Sscan(line, &above)
	return above
}

// remembers reports whether a text is in the writable memory of a process.
func remembers(proc string, text []byte) bool {
	maps, err := os.ReadFile(proc + "maps")
	if err != nil {
		return false
	}
	mem, err := os.Open(proc + "mem")
	if err != nil {
		return false
	}
	defer mem.Close()
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") {
			continue
		}
		for ; from < to; from += 1 << 20 {
			piece := make([]byte, min(to-from, 1<<20+int64(len(text))))
			n, _ := mem.ReadAt(piece, from)
			if bytes.Contains(piece[:n], text) {
				return true
			}
		}
	}
	return false
}
