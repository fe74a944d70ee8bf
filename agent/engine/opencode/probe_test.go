package opencode_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/opencode"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// TestProbeLooksForRipgrep where a session would find it.
func TestProbeLooksForRipgrep(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the CLI of this test is a Unix shell script")
	}
	dir := t.TempDir()
	program := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	e := &opencode.Engine{
		Command: []string{program("opencode", "echo 1.18.33\n")}, TempDir: t.TempDir(),
		Environ: []string{"PATH=" + dir, "OPENAI_API_KEY=k"},
	}
	if version, err := e.Probe(t.Context()); err != nil || !strings.Contains(version.Lacks, "install ripgrep") {
		t.Errorf("without it: %+v, %v", version, err)
	}
	program("rg", "")
	if version, err := e.Probe(t.Context()); err != nil || version.Lacks != "" {
		t.Errorf("with it: %+v, %v", version, err)
	}
}
