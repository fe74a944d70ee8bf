package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// plainUser is the one that has no files and no rights on each Linux, "nobody".
const plainUser = 65534

// TestPlainUsersSandboxHoldsAsWell has that user run what root runs here, as root in a container does.
func TestPlainUsersSandboxHoldsAsWell(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: the other tests are a plain user's already")
	}
	// Those of t.TempDir are closed to others.
	dir, err := os.MkdirTemp("/tmp", "touchstone-plain-user-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sandbox.test")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, plainUser, plainUser); err != nil {
		t.Fatal(err)
	}
	const held = "TestWhatMayBeWritten|TestCredentialsAreHiddenFromTheChild|TestAnAuthorReadsItsOwnAlone|" +
		"TestConfinedChildReachesNoOtherProcess|TestOnlyNamedPortsCanBeReached"
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", "^("+held+")$")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "CI=" + os.Getenv("CI")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name := range strings.SplitSeq(held, "|") {
		if !strings.Contains(string(out), "--- PASS: "+name) && !strings.Contains(string(out), "SKIPPED") {
			t.Errorf("%s was not run:\n%s", name, out)
		}
	}
}
