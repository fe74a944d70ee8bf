package clone

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/verdict/guard"
)

// TestASubmoduleIsNoFileThatCannotBeRead uses a submodule with the name of a script that runs checks.
func TestASubmoduleIsNoFileThatCannotBeRead(t *testing.T) {
	dir, git := repository(t)
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".github", "workflows", "ci.yml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("on: push\n")
	git("add", ".")
	git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",compat-tests")
	git("commit", "-qm", "base")
	write("on: [push, pull_request]\n")
	git("commit", "-qam", "head")
	t.Chdir(dir)
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change, err := c.Change(t.Context(), "HEAD~1", true)
	if err != nil {
		t.Fatal(err)
	}
	if holds := guard.Holds(guard.Examine(change)); len(holds) > 0 {
		t.Errorf("%+v", holds)
	}
}

// TestALinkIsNoFileAroundAChange uses links whose targets are text that marks all files as no work of the repository.
func TestALinkIsNoFileAroundAChange(t *testing.T) {
	dir, git := repository(t)
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("* linguist-vendored"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", "main.go")
	}
	write("package main\n")
	hashed, err := exec.Command("git", "-C", dir, "hash-object", "-w", target).Output()
	if err != nil {
		t.Fatal(err)
	}
	git("update-index", "--add", "--cacheinfo", "120000,"+strings.TrimSpace(string(hashed))+",.gitattributes")
	git("commit", "-qm", "base")
	write("package main // changed\n")
	git("commit", "-qm", "head")
	t.Chdir(dir)
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := c.ReadFile(t.Context(), "HEAD", ".gitattributes"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a link is the file %q, %v", text, err)
	}
	change, err := c.Change(t.Context(), "HEAD~1", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change.Files {
		if f.Path == ".gitattributes" {
			t.Errorf("the link is around the change: %+v", f)
		}
	}
}

// repository is an empty one, and what runs git in it.
func repository(t *testing.T) (dir string, git func(args ...string)) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull) // such as one that has commits signed
	dir = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	git("init", "-q", "-b", "main")
	return dir, git
}

// TestAChangeWithinTheSameMomentIsSeen changes a file without changing the size and the time recorded in the
// index: only the index's own time shows that the content must be read.
func TestAChangeWithinTheSameMomentIsSeen(t *testing.T) {
	dir, git := repository(t)
	file, index := filepath.Join(dir, "a.txt"), filepath.Join(dir, ".git", "index")
	moment := time.Now().Add(-time.Hour).Truncate(time.Second)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	git("config", "core.trustctime", "false") // which a test cannot set back
	write("85%\n")
	git("add", ".")
	git("commit", "-qm", "base")
	write("80%\n")
	if err := os.Chtimes(index, moment, moment); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Borrow(t.Context(), t.TempDir(), "main", Working)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := b.Diff(t.Context())
	if err != nil || len(diff.Files) != 1 || diff.Files[0].Path != "a.txt" {
		t.Errorf("%+v, %v", diff.Files, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("the directory is left behind: %v", err)
	}
}

// TestACloneOfAnotherUserIsReadIfItIsTrusted as git itself reads it, such as in a job in a container.
func TestACloneOfAnotherUserIsReadIfItIsTrusted(t *testing.T) {
	dir, git := repository(t)
	git("commit", "-q", "--allow-empty", "-m", "base")
	if os.Getuid() != 0 {
		t.Skip("only root can give a clone to another user")
	}
	for _, path := range []string{dir, filepath.Join(dir, ".git")} {
		if err := os.Chown(path, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	trusts := func(lines string) bool {
		t.Helper()
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GIT_CONFIG_GLOBAL", file)
		c, err := Open(t.Context())
		if err != nil {
			return false
		}
		_, err = c.Change(t.Context(), "main", false)
		return err == nil
	}
	if trusts("") || trusts("[safe]\n\tdirectory = *\n\tdirectory =\n") {
		t.Error("a clone that this user does not trust is read")
	}
	git("config", "--file", filepath.Join(dir, ".git", "config"), "safe.directory", "*")
	if trusts("") {
		t.Error("a clone is read because it trusts itself")
	}
	if !trusts("[safe]\n\tdirectory = " + dir + "\n") {
		t.Error("a clone that this user trusts is not read")
	}
}

// TestAPartialCloneThatLacksContentSaysSo and what to do, since nothing here fetches it.
func TestAPartialCloneThatLacksContentSaysSo(t *testing.T) {
	from, git := repository(t)
	file := filepath.Join(from, ".golangci.yml")
	for _, text := range []string{"run: {}\n", "run:\n  tests: true\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-qm", "a change")
	}
	git("config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(t.TempDir(), "partial")
	git("clone", "-q", "--filter=blob:none", "file://"+filepath.ToSlash(from), partial)
	t.Chdir(partial)
	read := map[string]func(c *Clone) error{
		"the guard": func(c *Clone) error {
			_, err := c.Change(t.Context(), "HEAD~1", true)
			return err
		},
		"a review": func(c *Clone) error {
			b, err := c.Borrow(t.Context(), t.TempDir(), "HEAD~1", Committed)
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = b.Close() })
			if _, err := b.ReadFile(t.Context(), b.Base, "none"); !os.IsNotExist(err) {
				return err
			}
			_, err = b.Diff(t.Context())
			_, readErr := b.ReadFile(t.Context(), b.Base, ".golangci.yml")
			if (err == nil) != (readErr == nil) || err != nil && !strings.Contains(readErr.Error(), "--refetch") {
				t.Errorf("the file that changed: %v", readErr)
			}
			return err
		},
	}
	for _, complete := range []bool{false, true} {
		if complete {
			git("-C", partial, "-c", "maintenance.auto=false", "fetch", "-q", "--refetch", "--no-filter")
		}
		for name, read := range read {
			c, err := Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = read(c)
			if complete && err != nil || !complete && (err == nil || !strings.Contains(err.Error(), "git fetch --refetch --no-filter")) {
				t.Errorf("%s of a clone with all content %v: %v", name, complete, err)
			}
		}
	}
}

// TestNothingIsAddedToACloneWithASplitIndex of which git keeps a part beside the clone's own index.
func TestNothingIsAddedToACloneWithASplitIndex(t *testing.T) {
	dir, git := repository(t)
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt")
	git("add", ".")
	git("commit", "-qm", "base")
	git("config", "core.splitIndex", "true")
	git("config", "splitIndex.maxPercentChange", "0") // a new part for every change
	git("update-index", "--split-index")
	parts := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, ".git", "sharedindex.*"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%d parts, %v", len(found), err)
		}
		return found
	}
	before := parts()
	write("b_test.go")
	t.Chdir(dir)
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if change, err := c.Change(t.Context(), "main", false); err != nil || len(change.Files) != 1 {
		t.Errorf("%d files, %v", len(change.Files), err)
	}
	if after := parts(); len(after) != len(before) {
		t.Errorf("the clone has %d parts of an index more", len(after)-len(before))
	}
}

// signs is a gpg that signs everything, and says of every signature that it is good.
const signs = `#!/bin/sh
case "$*" in
*--verify*) cat >/dev/null; echo "gpg: Good signature" >&2; echo "[GNUPG:] GOODSIG 1 alice" ;;
*) cat >/dev/null; echo "[GNUPG:] SIG_CREATED " >&2; printf -- '-----BEGIN PGP SIGNATURE-----\n\na\n-----END PGP SIGNATURE-----\n' ;;
esac
`

// signing is a repository whose commits are signed, and whose git log shows that.
func signing(t *testing.T) (git func(args ...string), commit func(subject string)) {
	t.Helper()
	dir, git := repository(t)
	program := filepath.Join(t.TempDir(), "gpg")
	if err := os.WriteFile(program, []byte(signs), 0o700); err != nil {
		t.Fatal(err)
	}
	git("config", "gpg.program", program)
	git("config", "commit.gpgSign", "true")
	git("config", "log.showSignature", "true")
	t.Chdir(dir)
	return git, func(subject string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.sh"), []byte("# "+subject+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-qm", subject, "-m", "Disable browser tests")
	}
}

// TestTheBaseOfASignedMergeIsFound reads the parents of the commit by which GitHub tests a pull request.
func TestTheBaseOfASignedMergeIsFound(t *testing.T) {
	git, commit := signing(t)
	commit("first")
	git("tag", "first")
	commit("base")
	git("tag", "base")
	commit("head")
	git("tag", "head")
	git("checkout", "-q", "base")
	git("merge", "-q", "--no-ff", "-m", "Merge", "head")
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, tag := range []string{"first", "base", "head"} {
		if of[tag], err = c.line(t.Context(), "rev-parse", tag); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Merged(t.Context(), of["first"], of["head"]); got != of["base"] {
		t.Errorf("the base is %s of %v", got, of)
	}
}

// TestTheOnlyCommitNamesTheChange reads the title of one commit, and none where several are to be merged.
func TestTheOnlyCommitNamesTheChange(t *testing.T) {
	git, commit := signing(t)
	commit("base")
	git("tag", "base")
	for _, step := range []struct{ subject, want string }{{"Move on", "Move on"}, {"Tidy up", ""}} {
		commit(step.subject)
		c, err := Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change, err := c.Change(t.Context(), "base", true)
		if err != nil {
			t.Fatal(err)
		}
		if change.Title != step.want {
			t.Errorf("after %q the title is %q, want %q", step.subject, change.Title, step.want)
		}
	}
}
