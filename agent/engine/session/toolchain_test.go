package session_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/engine/sandbox"
	"touchstone/agent/engine/session"
)

// TestPasswordsInGosSettingsStayWithTheUser: `go env -w` keeps a proxy's password in a file. Commands get the
// settings that are there, without it, and cannot read the file.
func TestPasswordsInGosSettingsStayWithTheUser(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("XDG_CONFIG_HOME", "")
	config, err := os.UserConfigDir()
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	file := filepath.Join(config, "go", "env")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := "GOPROXY=https://me:s3cret@proxy.example.invalid,direct\nGOPRIVATE=example.invalid\nGITHUB_TOKEN=s3cret\nGONOSUMDB=mine\n"
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	// Else the go command leaves a process behind that writes there.
	home := t.TempDir()
	mode := filepath.Join(home, ".config", "go", "telemetry", "mode")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mode), 0o700), os.WriteFile(mode, []byte("off"), 0o600)); err != nil {
		t.Fatal(err)
	}
	source := []string{"PATH=" + os.Getenv("PATH"), "GONOSUMDB=other"}
	env := session.Commands(source, t.TempDir(), home, t.TempDir())
	for _, entry := range env {
		_, value, _ := strings.Cut(entry, "=")
		text, _ := os.ReadFile(value)
		if strings.Contains(entry+string(text), "s3cret") {
			t.Errorf("%s gives the password away", entry)
		}
	}
	if !slices.Contains(sandbox.Logins(user), filepath.Dir(file)) {
		t.Error("the sandbox shows the file")
	}
	cmd := exec.Command("go", "env", "GOPROXY", "GOPRIVATE", "GONOSUMDB")
	cmd.Env, cmd.Dir = env, t.TempDir()
	out, err := cmd.CombinedOutput()
	if got, want := string(out), "https://proxy.example.invalid,direct\nexample.invalid\nother\n"; err != nil || got != want {
		t.Errorf("go sees %q, %v", got, err)
	}
}
