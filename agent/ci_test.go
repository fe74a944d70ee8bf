package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// runAct runs a workflow of the clone around the current directory as GitHub Actions does, on this machine and without
// containers (https://github.com/nektos/act), for an event in a file, and puts what it prints into stdout. The action is
// this working tree's, the program the test's, and GitHub's own setup-go is left out: act [!] EVENT PAYLOAD.
func runAct(ts *testscript.TestScript, neg bool, args []string) {
	root, err := filepath.Abs("..")
	ts.Check(err)
	home := ts.MkAbs("act")
	cmd := exec.Command("act", args[0], "--eventpath", ts.MkAbs(args[1]), "--platform", "ubuntu-latest=-self-hosted", "--pull=false",
		"--no-cache-server", "--action-offline-mode", "--local-repository", "touchstone/touchstone@v0="+root,
		"--local-repository", "actions/setup-go@v5="+ts.MkAbs("setup-go"), "--secret", "API_KEY=sk-ant-0123456789abcdef",
		"--env", "XDG_CONFIG_HOME="+ts.Getenv("XDG_CONFIG_HOME"), "--env", "ANTHROPIC_BASE_URL="+ts.Getenv("ANTHROPIC_BASE_URL"))
	if len(args) > 2 {
		cmd.Args = append(cmd.Args, args[2:]...)
	}
	cmd.Dir = ts.Getenv("CLONE")
	cmd.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "PATH=" + ts.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	out, err := cmd.CombinedOutput()
	ts.Logf("%s", out)
	ts.Check(os.WriteFile(ts.MkAbs("said"), out, 0o600))
	if failed := err != nil; failed != neg {
		ts.Fatalf("act: %v", err)
	}
	if strings.Contains(string(out), "sk-ant-0123456789abcdef") {
		ts.Fatalf("the log holds the secret")
	}
}

// writeEvent writes the payload of a pull request whose base is the clone's main: event FILE NUMBER HEAD-REPOSITORY.
func writeEvent(ts *testscript.TestScript, _ bool, args []string) {
	at := func(branch string) []byte {
		show := exec.Command("git", "rev-parse", branch)
		show.Dir = ts.Getenv("CLONE")
		out, err := show.Output()
		ts.Check(err)
		return bytes.TrimSpace(out)
	}
	payload := fmt.Sprintf(`{"action":"synchronize","number":%[1]s,"pull_request":{"number":%[1]s,"base":{"ref":"main","sha":%[2]q},`+
		`"head":{"ref":"topic","sha":%[4]q,"repo":{"full_name":%[3]q}}},"repository":{"full_name":"acme/app"}}`,
		args[1], at("main"), args[2], at("topic"))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(payload), 0o600))
}
