package enginetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// CLI returns the path of a real CLI: the value of the variable TOUCHSTONE_<NAME>, else what
// scripts/install-engines.sh installed in .tools, else what is on PATH. If there is none, the test is
// skipped, or fails if CI is "true".
func CLI(t testing.TB, name string) string {
	t.Helper()
	variable := "TOUCHSTONE_" + strings.ToUpper(name)
	if path := os.Getenv(variable); path != "" {
		return path
	}
	installed := filepath.Join(moduleRoot(t), ".tools", "node_modules", ".bin", name)
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	reason := "no " + name + " CLI: run make tools, or set " + variable
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip("SKIPPED, so the real CLI is not tested: " + reason)
	return ""
}

// Build compiles a program of this module into dir and returns its path. It uses the Makefile's flags, so
// both share the build cache.
func Build(t testing.TB, dir, pkg string) string {
	t.Helper()
	// The suffix is needed on Windows and harmless elsewhere.
	program := filepath.Join(dir, filepath.Base(pkg)+".exe")
	build := exec.Command("go", "build", "-trimpath", "-o", program, pkg)
	build.Dir = moduleRoot(t)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
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
