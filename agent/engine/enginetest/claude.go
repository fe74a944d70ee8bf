package enginetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Claude gives the path of the real claude CLI: what TOUCHSTONE_CLAUDE names,
// else what scripts/install-claude.sh has put into .tools, else what is on
// PATH. Without any the test is skipped, or fails if CI is "true".
func Claude(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("TOUCHSTONE_CLAUDE"); path != "" {
		return path
	}
	installed := filepath.Join(moduleRoot(t), ".tools", "node_modules", ".bin", "claude")
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	if path, err := exec.LookPath("claude"); err == nil {
		return path
	}
	const reason = "no claude CLI: run scripts/install-claude.sh, or set TOUCHSTONE_CLAUDE"
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip("SKIPPED, so the real CLI is not tested: " + reason)
	return ""
}

// Build compiles a program of this module into dir and gives its path.
func Build(t testing.TB, dir, pkg string) string {
	t.Helper()
	// The suffix is for Windows and does no harm elsewhere.
	program := filepath.Join(dir, filepath.Base(pkg)+".exe")
	build := exec.Command("go", "build", "-o", program, pkg)
	build.Dir = moduleRoot(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return program
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}
