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

	"touchstone/agent/engine/sandbox"
)

// thiefVariable turns the test program into a thief, started as a command of a session. Its value is the text
// to look for, in hexadecimal so that the thief does not find itself.
const thiefVariable = "TOUCHSTONE_TEST_THIEF"

// playThief runs the thief, if the test program was started as one.
func playThief() {
	if wanted := os.Getenv(thiefVariable); wanted != "" {
		steal(wanted)
		os.Exit(0)
	}
}

// Thief writes a program into a directory. It looks for a login in everything that it can reach of the
// session that runs it, and for ways to make the CLI reveal the login; see WantNoBooty.
func Thief(t testing.TB, dir, login string) (path string) {
	t.Helper()
	path, program := filepath.Join(dir, "thief"), filepath.Join(dir, "thief.test")
	// Not every session can read the directory in which the test program is.
	content, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, content, 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s=%x exec '%s'\n", thiefVariable, login, program), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// WantNoBooty checks that a thief ran in a session with the provider and found nothing.
func WantNoBooty(t testing.TB, p *Provider) {
	t.Helper()
	var told strings.Builder
	for _, call := range p.Calls() {
		told.Write(call.Body)
	}
	if !strings.Contains(told.String(), "THE END OF THE THEFT") {
		t.Error("the thief did not run, so that this test shows nothing")
	}
	for _, booty := range strings.Split(told.String(), "STOLEN: ")[1:] {
		what, _, _ := strings.Cut(booty, `\n`)
		t.Errorf("it stole %s", what)
	}
}

// steal looks for a text in the environment and memory of all ancestor processes, and for other ways to get
// it.
func steal(wanted string) {
	text, err := hex.DecodeString(wanted)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MESSAGING_TOKEN",
		"TOUCHSTONE_GATEWAY_TOKEN"} {
		if os.Getenv(name) != "" {
			fmt.Println("STOLEN: the variable", name)
		}
	}
	for pid := os.Getppid(); pid > 1; pid = parent(pid) {
		proc := fmt.Sprintf("/proc/%d/", pid)
		environ, err := os.ReadFile(proc + "environ")
		if bytes.Contains(environ, text) {
			fmt.Println("STOLEN: from the environment of", pid)
		}
		if remembers(proc, text) {
			fmt.Println("STOLEN: from the memory of", pid)
		}
		if err != nil && signals() && syscall.Kill(pid, 0) == nil {
			fmt.Println("STOLEN: a signal to a process outside,", pid)
		}
	}
	for _, path := range []string{
		os.Getenv("OPENCODE_CONFIG"), filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "settings.json"),
		filepath.Join(filepath.Dir(os.Getenv("CLAUDE_CONFIG_DIR")), ".bashrc"), os.Getenv("SHELL"),
	} {
		if filepath.IsAbs(path) && os.WriteFile(path, []byte("{}"), 0o600) == nil {
			fmt.Println("STOLEN: a place that the CLI reads,", path)
		}
	}
	fmt.Println("THE END OF THE THEFT")
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
