package reviewer_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"touchstone/agent/reviewer"
	"touchstone/guidelines"
)

// mostProcesses is how many times the preparation of a review may start git.
const mostProcesses = 5

// TestPreparationStartsFewProcesses: as many for a large change as for a small one.
func TestPreparationStartsFewProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the recorder is a shell script")
	}
	few, many := gitRuns(t, 2), gitRuns(t, 40)
	if len(few) != len(many) || len(many) == 0 || len(many) > mostProcesses {
		t.Errorf("git runs %d times for 2 files, %q, and %d times for 40, %q", len(few), few, len(many), many)
	}
}

// gitRuns are the runs of git that a review of so many changed files takes before its session.
func gitRuns(t *testing.T, files int) []string {
	t.Helper()
	binary, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	record, recorder := filepath.Join(dir, "runs"), filepath.Join(dir, "git")
	script := fmt.Sprintf("#!/bin/sh\n(while [ \"$1\" = -c ]; do shift 2; done; echo \"$1\" >>'%s')\nexec '%s' \"$@\"\n", record, binary)
	if err := os.WriteFile(recorder, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	tree := treeOf(t, recorder, 50, files, 40*files)
	rules, err := guidelines.Default()
	if err == nil {
		err = os.WriteFile(record, nil, 0o600) // what making the checkout took is not asked
	}
	if err != nil {
		t.Fatal(err)
	}
	diff, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := reviewer.Examiner{Guidelines: rules, TempDir: t.TempDir()}
	p, err := e.Prepare(t.Context(), reviewer.Subject{Texts: reviewer.Texts{Title: "Change it"}, Rounds: reviewer.Rounds{Round: 1},
		Checkout: reviewer.Checkout{Base: diff.Base, Diff: diff, Dir: tree.Dir(), Files: tree, Index: tree.Beside("index")}})
	if err != nil {
		t.Fatal(err)
	}
	p.Close(t.Context())
	runs, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(runs)), "\n")
}
