package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMistakesOfOnePlatformAreTold checks that a mistake in code that only one system compiles is reported
// for that system only, in a test as well as in a file for one architecture.
func TestMistakesOfOnePlatformAreTold(t *testing.T) {
	dir := t.TempDir()
	wants := map[string]string{}
	write := func(name, text, want string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			wants[name] = want
		}
	}
	write("go.mod", "module example\n\ngo 1.26\n", "")
	for _, name := range []string{"kind", "unit", "call", "none", "form", "arch"} {
		write(name+"/every.go", "package a\n", "")
	}
	write("kind/a_windows.go", "package a\n\nvar n int = \"text\"\n", `a_windows.go:3:13: cannot use "text"`)
	write("unit/a_windows_test.go", "package a_test\n\nvar n int = \"text\"\n", `a_windows_test.go:3:13: cannot use "text"`)
	write("call/a_windows.go", "package a\n\nimport \"unsafe\"\n\nvar _ = unsafe.None()\n", "a_windows.go:5:16: undefined: unsafe.None")
	write("none/a_windows.go", "package a\n\nimport _ \"example/missing\"\n", "example/missing")
	write("form/a_windows.go", "package a\n\nvar n int =\n", "expected")
	write("arch/a_windows_amd64.go", "package a\n\nfunc init() { missing() }\n", "a_windows_amd64.go:3:15: undefined: missing")

	problems, err := check(dir, "windows/amd64")
	told := strings.Join(problems, "\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range wants {
		if !strings.Contains(told, want) {
			t.Errorf("of %s it does not tell %q:\n%s", name, want, told)
		}
	}
	if problems, err := check(dir, "linux/arm64"); err != nil || len(problems) > 0 {
		t.Errorf("for another system it tells %q, %v", problems, err)
	}
}
