package gitcmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestGitErrorHidesTheSecretAndNamesTheRemedy(t *testing.T) {
	const secret = "c2VjcmV0"
	c := Command{Args: []string{"fetch"}, Remote: &Remote{URL: "https://example.com/x", Authorization: "Basic " + secret}}
	err := newFailure(c, 128, []byte("hint: "+secret+"\nfatal: sent 'Basic "+secret+"'\nerror: write: No space left on device\nadvice\n"))
	if text := err.Error() + err.stderr; strings.Contains(text, secret) {
		t.Errorf("the secret is in %q", text)
	}
	if got, want := err.Error(), "git fetch: error: write: No space left on device (the disk is full: free some space)"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := newFailure(c, 7, nil).Error(); got != "git fetch: ended with exit code 7" {
		t.Errorf("without output: %q", got)
	}
}

func TestARefusalIsNoOutage(t *testing.T) {
	for stderr, outage := range map[string]bool{
		"error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403\nfatal: the remote end hung up unexpectedly\n": false,
		"error: RPC failed; HTTP 403\n":                                                                                     false,
		"fatal: write error: No space left on device\nfatal: early EOF\n":                                                   false,
		"error: RPC failed; HTTP 502\nfatal: the remote end hung up\n":                                                      true,
		"fatal: unable to access: Could not resolve host: example.com\n":                                                    true,
		"fatal: unable to access 'https://x/': OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to x:443 \n":            true,
		"fatal: unable to access 'https://x/': GnuTLS recv error (-110): The TLS connection was non-properly terminated.\n": true,
		"fatal: unable to access 'https://x/': transfer closed with 495 bytes remaining to read\n":                          true,
		"fatal: unable to access 'https://x/': server certificate verification failed. CAfile: none CRLfile: none\n":        false,
		"fatal: bad object\n": false,
	} {
		err := newFailure(Command{Args: []string{"push"}}, 128, []byte(stderr))
		if errors.Is(err, ErrUnavailable) != outage {
			t.Errorf("%q is an outage: %v", stderr, !outage)
		}
	}
}

func TestGitMustBeThereAndRecent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for git is a shell script")
	}
	dir := t.TempDir()
	for i, c := range []struct{ prints, says string }{
		{"git version 2.37.9", "git is 2.37: install 2.38 or newer"},
		{"git version 1.99", "install 2.38 or newer"},
		{"hello", "which cannot be read"},
		{"git version 2.38.0.windows.1", ""},
		{"git version 2.50.1 (Apple Git-155)", ""},
		{"git version 3.0.0", ""},
	} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+c.prints+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		err := Check(t.Context(), path)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.prints, err)
		}
	}
	err := Check(t.Context(), filepath.Join(dir, "absent"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "install git 2.38") {
		t.Errorf("without git: %v", err)
	}
}

// TestGitGetsNoPathThatMoves checks that git never looks for programs in the checkout.
func TestGitGetsNoPathThatMoves(t *testing.T) {
	here := t.TempDir()
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	for path, want := range map[string]string{
		list("", ".", here, "bin", ""): "PATH=" + here,
		list("", "bin"):                "",
	} {
		t.Setenv("PATH", path)
		got := slices.DeleteFunc(inherited(), func(entry string) bool { return !strings.HasPrefix(entry, "PATH=") })
		if strings.Join(got, " ") != want {
			t.Errorf("of %q git gets %q, want %q", path, got, want)
		}
	}
}

// TestWarningsDoNotHideTheFault checks out a change whose .gitattributes makes git print more than is kept,
// before it says what failed.
func TestWarningsDoNotHideTheFault(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED on Windows, where git takes no such name")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	mirror, tree := t.TempDir(), t.TempDir()
	if out, err := exec.Command(git, "init", "-q", "--bare", mirror).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var attributes strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&attributes, "* no^name-%d\n", n)
	}
	for name, text := range map[string]string{".gitattributes": attributes.String(), "a": "a\n"} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repo := Repo{Git: git, Mirror: mirror, Dir: mirror, Tree: tree}
	blob, err := repo.Line(t.Context(), "hash-object", "-w", "a")
	if err != nil {
		t.Fatal(err)
	}
	long := "100644," + blob + "," + strings.Repeat("z", 300)
	for _, args := range [][]string{{"add", "--all"}, {"update-index", "--add", "--cacheinfo", long}} {
		if _, err := repo.Output(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	_, err = repo.Output(t.Context(), "checkout-index", "--all", "--force")
	if !Says(err, "File name too long") || !strings.Contains(err.Error(), "File name too long") {
		t.Errorf("it says %.300v", err)
	}
}
