package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestNothingOfThePullRequestRuns sets a trap in every place from which git runs
// commands, both in the pull request and, as a model with a shell could, in the
// checkout's own configuration; then it uses every method.
func TestNothingOfThePullRequestRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	r := newRemote(t)
	canary := filepath.Join(t.TempDir(), "canary")
	trap := filepath.Join(t.TempDir(), "trap")
	writeTest(t, trap, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>'%s'\ncat\n", canary))
	if err := os.Chmod(trap, 0o755); err != nil {
		t.Fatal(err)
	}
	r.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.hidden -diff\n")
	r.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+trap+"\n\tupdate = !"+trap+"\n")
	r.write("a.hidden", "before\n")
	r.git("add", "-A")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	r.git("commit", "-q", "-m", "traps")
	req := r.pull()
	r.write("a.hidden", "after\n")
	req.Head = r.commit("refs/heads/topic")
	r.git("checkout", "-q", "main")
	r.write("main.txt", "one\ntheirs\nthree\n")
	req.Base = r.commit("refs/heads/main")

	// The user's own configuration must not take part either.
	home := t.TempDir()
	writeTest(t, filepath.Join(home, ".gitconfig"), evilConfig(trap))
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor="+trap+"'")
	t.Setenv("GIT_EXTERNAL_DIFF", trap)
	t.Setenv("GIT_ASKPASS", trap)
	t.Setenv("GIT_SSH_COMMAND", trap)

	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	poison(t, tree, trap)
	exercise(t, tree, req)
	release(t, tree)
	tree = acquire(t, s, req)
	exercise(t, tree, req)
	release(t, tree)
	if err := s.Remove(t.Context(), "acme/app", 12, "author"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(canary); err == nil {
		t.Errorf("something of the checkout was executed:\n%s", b)
	}

	// The traps work: a git without our settings falls into one.
	poison(t, acquire(t, s, req), trap)
	cmd := exec.Command("git", "status")
	cmd.Dir = tree.Dir()
	if out, err := cmd.CombinedOutput(); !exists(canary) {
		t.Errorf("the traps do not work, this test proves nothing: %v: %s", err, out)
	}
}

func evilConfig(trap string) string {
	return fmt.Sprintf(`[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = %[1]s
	sshCommand = %[1]s
	editor = %[1]s
	pager = %[1]s
	alternateRefsCommand = %[1]s
[extensions]
	worktreeConfig = true
[filter "evil"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff "evil"]
	command = %[1]s
	textconv = %[1]s
[diff]
	external = %[1]s
[merge "evil"]
	driver = %[1]s
[credential]
	helper = %[1]s
[gpg]
	program = %[1]s
[commit]
	gpgSign = true
`, trap)
}

// poison writes what only somebody with a shell inside the checkout could.
func poison(t *testing.T, tree *Tree, trap string) {
	t.Helper()
	writeTest(t, filepath.Join(tree.home.mirror(), "config"), evilConfig(trap))
	writeTest(t, filepath.Join(tree.home.mirror(), "info/attributes"), "* filter=evil diff=evil merge=evil\n")
	for _, dir := range []string{tree.home.mirror(), tree.git.dir} {
		writeTest(t, filepath.Join(dir, "config.worktree"), evilConfig(trap))
		for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "prepare-commit-msg", "post-commit",
			"pre-merge-commit", "post-merge", "pre-push", "reference-transaction", "post-index-change"} {
			path := filepath.Join(dir, "hooks", hook)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(trap, path); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
	}
}

// exercise uses every method of a tree whose request conflicts in main.txt at most.
func exercise(t *testing.T, tree *Tree, req Request) {
	t.Helper()
	ctx := t.Context()
	d, err := tree.Diff(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hidden := slices.IndexFunc(d.Files, func(f FileDiff) bool { return f.Path == "a.hidden" })
	if hidden < 0 || d.Files[hidden].Binary || !strings.Contains(string(d.Files[hidden].Patch), "+after") {
		t.Errorf("the pull request's attributes hid a change: %+v", d.Files)
	}
	if _, err := tree.ReadFile(ctx, req.Head, "a.hidden"); err != nil {
		t.Error(err)
	}
	if _, err := tree.Merge(ctx, req.Base, "merge", me); err != nil {
		t.Error(err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "main.txt"), "edited\n")
	if _, err := tree.DiffWorking(ctx, req.Head); err != nil {
		t.Error(err)
	}
	if _, err := tree.ConflictMarkers(ctx); err != nil {
		t.Error(err)
	}
	if _, err := tree.Commit(ctx, "edit", me); err != nil {
		t.Error(err)
	}
	if err := tree.Push(ctx, "scratch", ""); err != nil && !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "left.txt"), "over\n")
}

// TestNestedRepositories puts a repository with a trap of its own where a
// submodule belongs, and another one elsewhere.
func TestNestedRepositories(t *testing.T) {
	r := newRemote(t)
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	r.git("commit", "-q", "-m", "submodule")
	r.write("main.txt", "one\n")
	r.git("add", "main.txt")
	r.git("commit", "-q", "-m", "main")
	base := r.git("rev-parse", "HEAD")
	r.git("push", "-q", r.bare, "HEAD:refs/heads/main")
	req := Request{Remote: Remote{URL: r.url, Authorization: authorization}, Repo: "acme/app", Number: 1, Role: "author",
		Head: base, HeadRef: "refs/heads/main", Base: base, BaseRef: "refs/heads/main"}
	s := &Store{Root: t.TempDir()}
	for _, path := range []string{"sub", "elsewhere"} {
		tree := acquire(t, s, req)
		canary := filepath.Join(t.TempDir(), "canary")
		nested := filepath.Join(tree.Dir(), path)
		run(t, tree.Dir(), "git", "init", "-q", nested)
		run(t, nested, "git", "commit", "-q", "--allow-empty", "-m", "x")
		writeTest(t, filepath.Join(nested, ".gitattributes"), "* filter=evil\n")
		writeTest(t, filepath.Join(nested, "f"), "x")
		run(t, nested, "git", "add", "-A")
		writeTest(t, filepath.Join(nested, "f"), "y")
		run(t, nested, "git", "config", "core.fsmonitor", "touch "+canary)
		run(t, nested, "git", "config", "filter.evil.clean", "touch "+canary+"; cat")
		_, err := tree.Commit(t.Context(), "x", me)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: committed with a repository inside: %v", path, err)
		}
		t.Log(err)
		release(t, tree)
		tree = acquire(t, s, req)
		if exists(filepath.Join(nested, ".git")) {
			t.Errorf("%s: the repository is still in the tree", path)
		}
		release(t, tree)
		if exists(canary) {
			t.Errorf("%s: the nested repository's configuration was obeyed", path)
		}
	}
	broken, err := filepath.Glob(filepath.Join(s.Root, "acme", "app", "broken-*"))
	if err != nil || len(broken) != 2 {
		t.Errorf("set aside: %v, %v; want both trees", broken, err)
	}
}

// TestSecretStaysSecret records what every git process is given.
func TestSecretStaysSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the recorder is a shell script")
	}
	r := newRemote(t)
	req := r.pull()
	dir := t.TempDir()
	wrapper := filepath.Join(dir, "git")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	writeTest(t, wrapper, fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >>'%[1]s/argv'\necho \"$@\" >>'%[1]s/env'\nenv >>'%[1]s/env'\nexec '%[2]s' \"$@\"\n", dir, real))
	if err := os.Chmod(wrapper, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_TOKEN", "ghp_ofAnotherKind")
	s := &Store{Root: t.TempDir(), Git: wrapper}
	tree := acquire(t, s, req)
	writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "ours\n")
	if _, err := tree.Commit(t.Context(), "ours", me); err != nil {
		t.Fatal(err)
	}
	if err := tree.Push(t.Context(), "topic", req.Head); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(read(t, dir, "argv"), secret) {
		t.Error("the secret is on a command line")
	}
	env := read(t, dir, "env")
	if !strings.Contains(env, secret) {
		t.Error("the recorder does not record, this test proves nothing")
	}
	if strings.Contains(env, "ghp_ofAnotherKind") || strings.Contains(env, "\nHOME=") {
		t.Errorf("git's environment holds more than the allowed names:\n%s", env)
	}
	err = filepath.WalkDir(s.Root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(read(t, path), secret) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
