package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"touchstone/worktree/diff"
)

// snare is one place from which git runs a command.
type snare struct {
	name string
	// config and attributes set it; %[1]s is the command.
	config, attributes string
	hook               bool
	// prove is what a git without our protection does and runs the command, below the
	// checkout. $BASE conflicts with what is checked out there, $URL wants a password.
	prove string
}

var snares = []snare{
	{name: "fsmonitor", config: "[core]\nfsmonitor = %[1]s\n", prove: "git status"},
	{name: "hook", hook: true, prove: "git commit --allow-empty -m x"},
	{name: "hooksPath", config: "[core]\nhooksPath = %[1]s.hooks\n", prove: "git commit --allow-empty -m x"},
	{name: "clean", config: "[filter \"evil\"]\nclean = %[1]s\n", attributes: "filter=evil", prove: "git add -A"},
	{name: "smudge", config: "[filter \"evil\"]\nsmudge = %[1]s\n", attributes: "filter=evil", prove: "git checkout -f ."},
	{name: "process", config: "[filter \"evil\"]\nprocess = %[1]s\n", attributes: "filter=evil", prove: "git add -A"},
	{name: "diff", config: "[diff]\nexternal = %[1]s\n", prove: "git diff"},
	{name: "diff driver", config: "[diff \"evil\"]\ncommand = %[1]s\n", attributes: "diff=evil", prove: "git diff"},
	{name: "textconv", config: "[diff \"evil\"]\ntextconv = %[1]s\n", attributes: "diff=evil", prove: "git diff"},
	{name: "merge driver", config: "[merge \"evil\"]\ndriver = %[1]s\n", attributes: "merge=evil", prove: "git stash -q && git merge $BASE"},
	{name: "default merge driver", config: "[merge]\ndefault = evil\n[merge \"evil\"]\ndriver = %[1]s\n",
		prove: "git stash -q && git merge $BASE"},
	{name: "credential helper", config: "[credential]\nhelper = \"!%[1]s\"\n", prove: "git fetch $URL"},
	{name: "askPass", config: "[core]\naskPass = %[1]s\n", prove: "unset GIT_ASKPASS; git fetch $URL"},
	{name: "sshCommand", config: "[core]\nsshCommand = %[1]s\n", prove: "unset GIT_SSH_COMMAND; git fetch ssh://127.0.0.1/x"},
	{name: "insteadOf", config: "[protocol \"ext\"]\nallow = always\n[url \"ext::%[1]s \"]\ninsteadOf = http://127.0.0.1\n",
		prove: "git fetch $URL"},
	{name: "signing", config: "[gpg]\nprogram = %[1]s\n[commit]\ngpgSign = true\n", prove: "git commit --allow-empty -m x"},
	{name: "editor", config: "[core]\neditor = %[1]s\n", prove: "unset GIT_EDITOR; git commit --allow-empty"},
	{name: "submodule", config: "[protocol \"ext\"]\nallow = always\n[submodule \"sub\"]\nactive = true\nurl = ext::%[1]s\nupdate = !%[1]s\n",
		prove: "GIT_ALLOW_PROTOCOL=ext git submodule update"},
	{name: "include", config: "[include]\npath = %[1]s.include\n", prove: "git status"},
	{name: "includeIf", config: "[includeIf \"gitdir:**\"]\npath = %[1]s.include\n", prove: "git status"},
	{name: "alternateRefsCommand", config: "[core]\nalternateRefsCommand = %[1]s\n",
		prove: "o=$(git rev-parse --git-path objects/info); mkdir -p $o; echo $OBJECTS >$o/alternates; git fetch file://$BARE"},
}

// TestNothingOfThePullRequestRuns sets a trap in every place from which git runs commands, both in the pull
// request and in the checkout's own configuration, where a model with a shell could write. Then it uses every
// method. Git without our protection springs each trap.
func TestNothingOfThePullRequestRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	r := newRemote(t)
	dir := t.TempDir()
	canary, trap := filepath.Join(dir, "canary"), filepath.Join(dir, "trap")
	for name, text := range map[string]string{
		"trap":                  fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>'%s'\n", canary),
		"trap.hooks/pre-commit": fmt.Sprintf("#!/bin/sh\necho hook >>'%s'\n", canary),
		"trap.include":          "[core]\nfsmonitor = " + trap + "\n",
	} {
		writeTest(t, filepath.Join(dir, name), text)
		must(t, os.Chmod(filepath.Join(dir, name), 0o755))
	}
	req := trapped(r, trap)
	r.git("checkout", "-q", "topic")
	later := r.commit("refs/pull/12/head")

	// The user's own configuration must not take part either.
	home := t.TempDir()
	writeTest(t, filepath.Join(home, ".gitconfig"), configOf(trap, snares...))
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor="+trap+"'")
	t.Setenv("GIT_EXTERNAL_DIFF", trap)
	t.Setenv("GIT_ASKPASS", trap)
	t.Setenv("GIT_SSH_COMMAND", trap)

	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	poison(t, tree, trap, snares...)
	exercise(t, tree, req)
	release(t, tree)
	req.Head, req.HeadRef = later, "refs/pull/12/head"
	wrong := req
	wrong.Remote.Authorization = ""
	poison(t, tree, trap, snares...)
	if _, err := s.Acquire(t.Context(), wrong); err == nil {
		t.Error("fetched without a password")
	}
	poison(t, tree, trap, snares...)
	tree = acquire(t, s, req)
	poison(t, tree, trap, snares...)
	exercise(t, tree, req)
	release(t, tree)
	must(t, s.Remove(t.Context(), "acme/app", 12, "author"))
	if b, err := os.ReadFile(canary); err == nil {
		t.Fatalf("something of the checkout was executed:\n%s", b)
	}
	for _, name := range []string{"GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF"} {
		must(t, os.Unsetenv(name))
	}
	for _, sn := range snares {
		s := &Store{Root: t.TempDir()}
		tree := acquire(t, s, req)
		writeTest(t, filepath.Join(tree.Dir(), "main.txt"), "edited\n")
		poison(t, tree, trap, sn)
		cmd := exec.Command("sh", "-c", sn.prove)
		cmd.Dir = tree.Dir()
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "URL="+r.url, "BASE="+req.Base,
			"BARE="+r.bare, "OBJECTS="+filepath.Join(r.bare, "objects"), "GIT_ASKPASS=", "GIT_SSH_COMMAND=",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); !exists(canary) {
			t.Errorf("%s: the snare does not work, so this test proves nothing: %v: %s", sn.name, err, out)
		} else if err := os.Remove(canary); err != nil {
			t.Fatal(err)
		}
		release(t, tree)
	}
}

// trapped makes pull request 12, which brings attributes and a submodule that run trap,
// and conflicts with its base.
func trapped(r *remoteRepo, trap string) Request {
	r.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.hidden -diff\n")
	r.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+trap+"\n")
	r.write("a.hidden", "before\n")
	r.git("add", "-A")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	r.git("commit", "-q", "-m", "traps")
	// A submodule that is not checked out is an empty directory.
	must(r.t, os.Mkdir(filepath.Join(r.work, "sub"), 0o755))
	req := r.pull()
	r.write("a.hidden", "after\n")
	r.write("main.txt", "one\nours\nthree\n")
	req.Head = r.commit("refs/heads/topic")
	r.git("checkout", "-q", "main")
	r.write("main.txt", "one\ntheirs\nthree\n")
	req.Base = r.commit("refs/heads/main")
	return req
}

// configOf is a configuration with these snares in it.
func configOf(trap string, set ...snare) string {
	text := "[core]\nrepositoryformatversion = 0\nbare = false\n[extensions]\nworktreeConfig = true\n"
	for _, s := range set {
		if s.config != "" {
			text += fmt.Sprintf(s.config, trap)
		}
	}
	return text
}

// poison writes what only somebody with a shell inside the checkout could.
func poison(t *testing.T, tree *Tree, trap string, set ...snare) {
	t.Helper()
	attributes := "*"
	for _, s := range set {
		attributes += " " + s.attributes
	}
	writeTest(t, filepath.Join(tree.home.Mirror(), "info/attributes"), attributes+"\n")
	writeTest(t, filepath.Join(tree.home.Mirror(), "config"), configOf(trap, set...))
	for _, dir := range []string{tree.home.Mirror(), tree.git.Dir} {
		writeTest(t, filepath.Join(dir, "config.worktree"), configOf(trap, set...))
		for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "prepare-commit-msg", "post-commit",
			"pre-merge-commit", "post-merge", "pre-push", "reference-transaction", "post-index-change"} {
			path := filepath.Join(dir, "hooks", hook)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			if !slices.ContainsFunc(set, func(s snare) bool { return s.hook }) {
				continue
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
	_, err := tree.Diff(ctx)
	wantErr(t, err, ErrUnmergeable)
	met, err := tree.meet(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tree.mirror.diff(ctx, met.bases[0], req.Head)
	if err != nil {
		t.Fatal(err)
	}
	hidden := slices.IndexFunc(d.Files, func(f diff.File) bool { return f.Path == "a.hidden" })
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
	edited := snapshot(t, tree)
	if _, err := tree.DiffSnapshot(ctx, req.Head, edited); err != nil {
		t.Error(err)
	}
	if _, err := tree.ConflictMarkers(ctx, edited); err != nil {
		t.Error(err)
	}
	if _, err := tree.Commit(ctx, "edit", me); err != nil {
		t.Error(err)
	}
	if err := push(t, tree, "scratch", ""); err != nil && !errors.Is(err, ErrRejected) {
		t.Error(err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "left.txt"), "over\n")
}

// TestNestedRepositories puts a repository with its own trap at the path of a submodule, and another one
// elsewhere.
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

// TestSecretStaysSecret records the arguments and the environment of every git process.
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
	writeTest(t, wrapper, fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >>'%[1]s/argv'\necho \"$@\" >>'%[1]s/env'\nenv "+
		">>'%[1]s/env'\nexec '%[2]s' \"$@\"\n", dir, real))
	must(t, os.Chmod(wrapper, 0o755))
	t.Setenv("GITHUB_TOKEN", "ghp_ofAnotherKind")
	s := &Store{Root: t.TempDir(), Git: wrapper}
	tree := acquire(t, s, req)
	writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "ours\n")
	commit(t, tree, "ours")
	must(t, push(t, tree, "topic", req.Head))
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

// TestACommitHasTheAuthorThatItIsGiven leaves an unfinished pick of a commit by somebody else, before a commit and before
// its replacement.
func TestACommitHasTheAuthorThatItIsGiven(t *testing.T) {
	t.Parallel()
	_, _, _, tree := acquired(t)
	other := run(t, tree.Dir(), "git", "-c", "user.name=m", "-c", "user.email=m@example.com",
		"commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}")
	for i, record := range []func(context.Context, string, Identity) (string, error){tree.Commit, tree.Amend} {
		writeTest(t, filepath.Join(tree.git.Dir, "CHERRY_PICK_HEAD"), other+"\n")
		writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), strings.Repeat("better\n", i+1))
		if _, err := record(t.Context(), "Edit", me); err != nil {
			t.Fatal(err)
		}
		if got := run(t, tree.Dir(), "git", "log", "-1", "--format=%an"); got != "Octo Cat" {
			t.Errorf("its author is %s", got)
		}
	}
}
