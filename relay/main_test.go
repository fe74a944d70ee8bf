package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/relay/storetest/host"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){"touchstone-relay": func() { os.Exit(run()) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// Else each command takes a second to exit, as long as the race detector waits for
			// goroutines that still run (https://go.dev/doc/articles/race_detector#Options).
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("HOST", host.Own())
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state-home")) // where up keeps what nothing else is said of
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfile": waitFile, "startgithub": startGitHub, "askgithub": askGitHub,
		},
	})
}

// waitFile waits until a file is there and puts its first line into an environment
// variable: waitfile VARIABLE FILE.
func waitFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: waitfile VARIABLE FILE")
	}
	line, err := waitForLine(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Setenv(args[0], line)
}
