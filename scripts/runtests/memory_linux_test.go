package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTemporaryFilesAreInMemory checks that the temporary files of tests are in memory if this user may
// mount, and that nothing is left of them.
func TestTemporaryFilesAreInMemory(t *testing.T) {
	before := t.TempDir()
	if exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "trial", before).Run() != nil || !available() {
		t.Skip("SKIPPED: this user may mount no file system, or too little memory is free")
	}
	module(t, map[string]string{"a_test.go": "package a\n\nimport (\n\t\"os\"\n\t\"strings\"\n\t\"testing\"\n)\n\n" +
		"func TestOne(t *testing.T) {\n\tmounts, err := os.ReadFile(\"/proc/self/mounts\")\n" +
		"\tif err != nil || !strings.Contains(string(mounts), \" \"+os.TempDir()+\" tmpfs \") {\n\t\tt.Error(os.TempDir(), err)\n\t}\n" +
		"\tos.WriteFile(os.TempDir()+\"/left\", nil, 0o600)\n}\n"})
	t.Setenv("TMPDIR", before)
	var out strings.Builder
	if err := run(t.Context(), []string{"-again=0", "./..."}, &out); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	if left, err := os.ReadDir(before); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
