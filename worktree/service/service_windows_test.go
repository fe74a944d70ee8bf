package service

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLineRunsAgainButAfterAMistake has a program fail once, be run again, and end with a mistake.
func TestLineRunsAgainButAfterAMistake(t *testing.T) {
	dir := t.TempDir()
	program, log := filepath.Join(dir, "a program.bat"), filepath.Join(dir, "its log")
	script := "@echo once more 1>&2\r\n@if exist there exit 2\r\n@echo there> there\r\n@exit 1\r\n"
	if err := os.WriteFile(program, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "cmd.exe")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{CmdLine: "cmd.exe " + line(`cmd.exe /c "`+program+`"`, log)}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "once more") != 2 {
		t.Errorf("%v: it ran other than twice: %q\n%s", err, text, out)
	}
}
