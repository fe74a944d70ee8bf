package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// manager puts a systemctl on the PATH that writes down what it is told and answers with what a test
// says. It returns what was told since the last time.
func manager(t *testing.T, script string) (told func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "told")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	text := "#!/bin/sh\necho \"$*\" >>" + log + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		_ = os.Remove(log)
		return string(text)
	}
}

// example has all in its paths that systemd's units give a meaning to; of the program's own, systemd
// takes no quotes and no backslashes.
func example(t *testing.T) Service {
	dir := filepath.Join(t.TempDir(), "a b%h$HOME")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "touchstone")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Service{
		Name: "touchstone-author", Program: program, Arguments: []string{"run", "--config", filepath.Join(dir, `c"d\e.yaml`)},
		Path: dir + ":/usr/bin", Version: "v1.2.3",
	}
}

func TestInstallAgainTakesUpWhatChanged(t *testing.T) {
	told := manager(t, "")
	s := example(t)
	path, err := s.Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(), "--user daemon-reload\n--user enable touchstone-author\n--user restart touchstone-author\n"; got != want {
		t.Errorf("first: %q", got)
	}
	if _, err := s.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := told(); strings.Contains(got, "restart") || !strings.Contains(got, "start") {
		t.Errorf("nothing changed, and it was restarted: %q", got)
	}
	s.Arguments[2] += ".new"
	if _, err := s.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(told(), "restart") || !strings.Contains(string(text), "e.yaml.new") {
		t.Errorf("the new configuration is not taken up: %v\n%s", err, text)
	}
	outdated := func() bool {
		is, err := s.Outdated()
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if outdated() {
		t.Error("what this version described is outdated")
	}
	s.Version = "v1.2.4"
	other := s
	other.Arguments = []string{"run", "--config", filepath.Join(t.TempDir(), "other.yaml")}
	if is, err := other.Outdated(); is || err != nil {
		t.Errorf("the service has another configuration than this: %v, %v", is, err)
	}
	if !outdated() {
		t.Error("what an older version described is not outdated")
	}
	if _, err := s.Install(t.Context()); err != nil || !strings.Contains(told(), "restart") || outdated() {
		t.Errorf("the new version is not taken up: %v", err)
	}
	for range 2 {
		if err := s.Uninstall(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := told(); got != "--user disable --now touchstone-author\n--user daemon-reload\n" {
		t.Errorf("uninstalled twice: %q", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) || outdated() {
		t.Errorf("it is still there: %v", err)
	}
}

// TestUnitIsSound has systemd read the unit, with any characters in the paths.
func TestUnitIsSound(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED: systemd-analyze is not installed (as on Debian: apt install systemd)")
	}
	told := manager(t, "")
	s := example(t)
	for directory, kind := range map[string]string{"": "--user", filepath.Dir(s.Program): "--system"} {
		s.Directory = directory
		t.Setenv("SYSTEMD_UNIT_PATH", t.TempDir())
		path, err := s.Install(t.Context())
		_ = os.Unsetenv("SYSTEMD_UNIT_PATH") // systemd looks for other units where they are
		if err != nil {
			t.Fatal(err)
		}
		if ofUser := strings.Contains(told(), "--user"); ofUser != (directory == "") {
			t.Errorf("in %q, and it told the user's systemd: %v", directory, ofUser)
		}
		cmd := exec.CommandContext(t.Context(), verify, "verify", "--man=no", kind, path)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		text, _ := os.ReadFile(path)
		if err != nil || len(out) > 0 || !strings.Contains(string(text), "\nRestartPreventExitStatus=2\n") {
			t.Errorf("%v\n%s\n%s", err, out, text)
		}
	}
}

// TestLaunchdScriptWaitsForTheProgram runs the shell script for launchd: a mistake gives exit code 0, and SIGTERM
// reaches the program, for whose exit code the script waits.
func TestLaunchdScriptWaitsForTheProgram(t *testing.T) {
	for script, want := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 2": 0, "exit 20": 20, `trap "exit 7" TERM; kill $PPID; while :; do :; done`: 7,
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", waiting, "sh", "-c", script)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("%s: exits %d, want %d\n%s", script, cmd.ProcessState.ExitCode(), want, out)
		}
	}
}

func TestAServiceIsNotInstalledOrHasAStatus(t *testing.T) {
	manager(t, "echo failed; exit 3")
	s := example(t)
	if got, err := s.Status(t.Context()); err != nil || got != "not installed" {
		t.Errorf("%q, %v", got, err)
	}
	path, _ := s.file()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Status(t.Context()); err != nil || got != "failed" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestInstallSaysWhatIsMissing(t *testing.T) {
	s := example(t)
	manager(t, "echo 'Failed to connect to bus' >&2; exit 1")
	if _, err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "Failed to connect to bus") ||
		!strings.Contains(err.Error(), "run loginctl enable-linger") {
		t.Errorf("%v", err)
	}
	if there, err := s.Installed(); there || err != nil {
		t.Errorf("what could not be installed is left behind: %v, %v", there, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no systemctl on this machine") {
		t.Errorf("%v", err)
	}
	s.Arguments = []string{"a\nExecStartPre=/bin/evil"}
	if _, err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("%v", err)
	}
}

// TestAnUpdateThatFailedIsTakenUpLater installs a new version while systemd does not answer: the program that
// runs is still the old one, which must show, and the next installation must replace it.
func TestAnUpdateThatFailedIsTakenUpLater(t *testing.T) {
	down := filepath.Join(t.TempDir(), "down")
	told := manager(t, "[ ! -e "+down+" ] || exit 1")
	s := example(t)
	if _, err := s.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(down, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Version = "v1.2.4"
	if _, err := s.Install(t.Context()); err == nil {
		t.Fatal("systemd does not answer, and yet it is installed")
	}
	if is, err := s.Outdated(); !is || err != nil {
		t.Errorf("the old version runs, and is not outdated: %v", err)
	}
	if err := os.Remove(down); err != nil {
		t.Fatal(err)
	}
	told()
	if _, err := s.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := told(); !strings.Contains(got, "restart") {
		t.Errorf("the new version is not started: %q", got)
	}
}
