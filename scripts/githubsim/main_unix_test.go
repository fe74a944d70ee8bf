//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/scripts/ci"
)

// TestMain lets the test binary stand in for the command itself.
func TestMain(m *testing.M) {
	if os.Getenv("GITHUBSIM_MAIN") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// bareRepo makes acme/app.git with one branch that fails or stalls CI.
func bareRepo(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir, work := filepath.Join(root, "acme", "app.git"), filepath.Join(root, "work")
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", dir},
		{"init", "-q", "-b", "main", work},
		{"-C", work, "-c", "user.name=o", "-c", "user.email=o@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
		{"-C", work, "push", "-q", dir, "main"},
		{"-C", work, "-c", "user.name=o", "-c", "user.email=o@example.com", "commit", "-q", "--allow-empty", "-m", "second"},
		{"-C", work, "push", "-q", dir, "main:feature"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func usersFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(path, []byte("- login: octocat\n  token: s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// standalone runs the command as a process and returns its base URL.
func standalone(t *testing.T, args ...string) (url string, cmd *exec.Cmd) {
	t.Helper()
	address := filepath.Join(t.TempDir(), "address")
	cmd = exec.Command(os.Args[0], append(args, "--address-file", address)...)
	cmd.Env = append(os.Environ(), "GITHUBSIM_MAIN=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	var seen strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(seen.String(), "octocat"); {
		n, err := out.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			t.Fatalf("the simulator ended: %v\n%s", err, seen.String())
		}
	}
	go io.Copy(io.Discard, out)
	if strings.Contains(seen.String(), "s3cret") {
		t.Fatal("the simulator prints tokens")
	}
	text, err := os.ReadFile(address)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), cmd
}

func post(t *testing.T, method, url, body string) map[string]any {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer s3cret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %v", method, url, resp.Status, doc)
	}
	return doc
}

func TestStandaloneEndsWithItsCI(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// CI and its child hold the pipe open for as long as either lives.
	url, cmd := standalone(t, "--repo", bareRepo(t), "--users", usersFile(t), "--ci", "exec 3> '"+path+"'; echo started >&3; sleep 300 & wait")
	post(t, "POST", url+"/repos/acme/app/pulls", `{"title":"T","head":"feature","base":"main"}`)
	alive, err := os.Open(path) // waits until CI opens it
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if started, err := bufio.NewReader(alive).ReadString('\n'); err != nil || started != "started\n" {
		t.Fatalf("CI says %q, %v", started, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("ended by SIGTERM: %v", err)
	}
	if err := alive.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, alive); err != nil {
		t.Fatalf("something that CI started outlives the simulator: %v", err)
	}
}

func TestCIConclusions(t *testing.T) {
	for _, tt := range []struct {
		line, want string
		timeout    time.Duration
	}{
		{"exit 0", "success", time.Minute},
		{"echo broken; exit 3", "failure", time.Minute},
		{"sleep 60", "timed_out", 50 * time.Millisecond},
	} {
		got := ci.Command{Line: tt.line, Timeout: tt.timeout}.Run(t.Context(), "acme/app", "", t.TempDir())
		if got.Conclusion != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.line, got.Conclusion, got.Summary, tt.want)
		}
	}
}

func TestCISeesNoCredentials(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "s3cret")
	got := ci.Command{Line: "env", Timeout: time.Minute}.Run(t.Context(), "acme/app", "", t.TempDir())
	if strings.Contains(got.Log, "s3cret") || !strings.Contains(got.Log, "CI=true") {
		t.Fatalf("the command saw:\n%s", got.Log)
	}
}

func TestBadInputIsSaidInASentence(t *testing.T) {
	users, typo := usersFile(t), filepath.Join(t.TempDir(), "typo.yaml")
	if err := os.WriteFile(typo, []byte("- login: octocat\n  passwort: s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no repository":     {[]string{"--repo", t.TempDir(), "--users", users}, "holds no OWNER/NAME.git"},
		"missing directory": {[]string{"--repo", "/nowhere", "--users", users}, "is not a directory"},
		"unknown key":       {[]string{"--repo", t.TempDir(), "--users", typo}, "passwort"},
		"some other file":   {[]string{"--repo", t.TempDir(), "--users", os.Args[0]}, "is it the right file?"},
		"port taken":        {[]string{"--repo", t.TempDir(), "--users", users, "--listen", ln.Addr().String()}, "choose another --listen"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(tt.args)
			cmd.SetOut(&bytes.Buffer{})
			err := cmd.ExecuteContext(context.Background())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want it to say %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Fatalf("the error tells a token: %v", err)
			}
		})
	}
}
