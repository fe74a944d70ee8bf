package author_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine/enginetest"
	"touchstone/verdict"
	"touchstone/worktree"
)

// turns has the session do one thing after the other, and the last again and again.
// It records what was asked.
func turns(asked *[]string, each ...func(loopback.Asked) (string, error)) func(loopback.Asked) (string, error) {
	return func(r loopback.Asked) (string, error) {
		*asked = append(*asked, r.Prompt)
		return each[min(len(*asked), len(each))-1](r)
	}
}

// rejected has a session make a change that must not be pushed, twice, and expects the
// second turn to be told why.
func rejected(t *testing.T, g *loopback.GitHub, edit map[string]string, want error, why string) {
	t.Helper()
	ref := g.Open("topic")
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	var asked []string
	_, err := newAuthor(g, turns(&asked, write("Done.", edit))).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !errors.Is(err, want) || !strings.Contains(err.Error(), why) {
		t.Errorf("it ends in %v, want %v with %q", err, want, why)
	}
	if len(asked) != 2 || !strings.Contains(asked[1], why) {
		t.Errorf("%d turns, the last told: %s", len(asked), asked[len(asked)-1])
	}
	if g.Read(loopback.Author, ref).Head.SHA != pr.Head.SHA {
		t.Error("something was pushed")
	}
}

func TestFixRefusesWhatNoRepairNeeds(t *testing.T) {
	t.Parallel()
	const test = "package app\n\nimport \"testing\"\n\nfunc TestApp(t *testing.T) {\n\tif app() != 1 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n"
	key := "-----BEGIN RSA PRIVATE" + " KEY-----"
	for name, tc := range map[string]struct {
		edit map[string]string
		want error
		why  string
	}{
		"a later comment":        {map[string]string{"code.txt": "safe() // todo(me): the other callers\n"}, author.ErrDeferred, "code.txt"},
		"a pull request to come": {map[string]string{"code.txt": "safe() // the callers in a follow-up PR\n"}, author.ErrDeferred, "code.txt"},
		"an indented marker":     {map[string]string{"code.txt": "safe()\n  <<<<<<< HEAD\n"}, author.ErrConflicts, "code.txt"},
		"a new binary":           {map[string]string{"app.exe": "MZ\x00\x01"}, author.ErrForbidden, "app.exe is a new binary"},
		"a secret in a binary": {map[string]string{"logo.png": "\x00 token=ghp_" + strings.Repeat("a1B2", 9)}, author.ErrForbidden,
			"logo.png contains"},
		"a secret for a name": {map[string]string{"ghp_" + strings.Repeat("a1B2", 9): "x\n"}, author.ErrForbidden, "name of a new file"},
		"a note for later":    {map[string]string{"code.txt": "safe() // TODO: the other callers\n"}, author.ErrDeferred, "code.txt"},
		"a skipped test": {map[string]string{"app_test.go": strings.Replace(test, "\tif", "\tt.Skip()\n\tif", 1)}, author.ErrRelaxed,
			"app_test.go"},
		"a suppression": {map[string]string{"app.go": "package app\n\nfunc app() int { return 1 } //nolint\n"}, author.ErrRelaxed,
			"app.go:3"},
		"two files of settings": {map[string]string{"config/a.yml": "tests:\n  y: q\n", "config/b.yml": "tests:\n  y: q\n"}, author.ErrRelaxed,
			"config/b.yml:2"},
		"a credential":      {map[string]string{"code.txt": key + "\n"}, author.ErrForbidden, "looks like a credential"},
		"a file of secrets": {map[string]string{".env": "A=b\n"}, author.ErrForbidden, ".env"},
		"a pipeline with secrets": {map[string]string{".github/workflows/ci.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - " +
			"run: echo ${{ secrets.KEY }}\n"}, author.ErrForbidden, "credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"app_test.go": test, "app.go": "package app\n\nfunc app() int { return 1 }\n",
				"old.txt": "# TODO: known\n", "logo.png": "\x00\n", "config/a.yml": "tests:\n  x: p\n  y: q\n",
				"config/b.yml": "tests:\n  x: p\n  y: q\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe() // FIXME: mine\n"})
			rejected(t, g, tc.edit, tc.want, tc.why)
		})
	}
}

// A link is followed on the machine of anyone who builds or edits the branch.
func TestFixRefusesLinksOutOfTheRepository(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]error{"/etc/passwd": author.ErrForbidden, "../../up": author.ErrForbidden, "../code.txt": nil} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n", "docs/a.txt": "a\n"})
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
			a := newAuthor(g, func(r loopback.Asked) (string, error) {
				link := filepath.Join(r.Dir, "docs", "link")
				_ = os.Remove(link) // there is none in the first turn
				return "Done.", os.Symlink(target, link)
			})
			if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, want) {
				t.Errorf("it ends in %v", err)
			}
		})
	}
}

// TestFixIsNotBlamedForWhatTheBaseDid checks that a session that resolves conflicts is not blamed for the
// content of either side.
func TestFixIsNotBlamedForWhatTheBaseDid(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"code.txt": "base\n",
		"app_test.go": "package app\n\nimport \"testing\"\n\nfunc TestApp(t *testing.T) { t.Log() }\n"})
	g.Commit("topic", "Change it", map[string]string{"code.txt": "ours // TODO: ours\n"})
	ref := g.Open("topic")
	g.Commit("main", "Change it too", map[string]string{"code.txt": "theirs // TODO: theirs\n", "app_test.go": "package app\n",
		".env": "A=b\n"})
	var asked []string
	a := newAuthor(g, turns(&asked, write("Both.", map[string]string{"code.txt": "ours // TODO: ours\ntheirs // TODO: theirs\n"})))
	if _, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil); err != nil || len(asked) != 1 {
		t.Errorf("%v after %d turns", err, len(asked))
	}
	g.Commit("topic", "Change it again", map[string]string{"code.txt": "ours\n"})
	g.Commit("main", "Change it once more", map[string]string{"code.txt": "theirs\n"})
	a = newAuthor(g, turns(&asked, write("Both.", map[string]string{"code.txt": "ours and theirs // FIXME: which?\n"})))
	if _, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil); !errors.Is(err, author.ErrDeferred) {
		t.Errorf("a note of its own ends in %v", err)
	}
}

// TestFixTakesNothingBackThatMergedByItself checks that a conflict in one file does not allow a session to
// undo the base's changes in others.
func TestFixTakesNothingBackThatMergedByItself(t *testing.T) {
	t.Parallel()
	const test = "package app\n\nimport \"testing\"\n\nfunc TestApp(t *testing.T) {\n\tt.Skip()\n\tt.Fatal()\n}\n"
	before := map[string]string{
		"code.txt": "base\n", ".touchstone/config.yaml": "merge:\n  auto: true\n", "app_test.go": test,
		"docs.yml": "on: push\n", ".github/workflows/ci.yml": "env:\n  KEY: ${{ secrets.KEY }}\n",
	}
	after := map[string]string{
		"code.txt": "theirs\n", ".touchstone/config.yaml": "merge:\n  auto: false\n", "app_test.go": strings.Replace(test, "\tt.Skip()\n", "", 1),
		".github/workflows/ci.yml": "env: {}\n",
	}
	for name, want := range map[string]error{
		".touchstone/config.yaml":  author.ErrForbidden,
		"app_test.go":              author.ErrRelaxed,
		".github/workflows/ci.yml": author.ErrForbidden,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, before)
			g.Commit("topic", "Change it", map[string]string{"code.txt": "ours\n"})
			g.Commit("main", "Change it too", after)
			rejected(t, g, map[string]string{"code.txt": "ours and theirs\n", name: before[name]}, want, name)
		})
	}
}

// A file is a pipeline by its name, whatever it was called before.
func TestFixMakesNoPipelineOfAFileThatReadsSecrets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line string
		want error
	}{
		"that reads secrets": {"      - run: echo ${{ secrets.KEY }}\n", author.ErrForbidden},
		"of another kind":    {"      - run: make test\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"docs/example.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n" + tc.line})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
			a := newAuthor(g, func(r loopback.Asked) (string, error) {
				dir := filepath.Join(r.Dir, ".github", "workflows")
				err := os.MkdirAll(dir, 0o755)
				if _, gone := os.Stat(filepath.Join(r.Dir, "docs", "example.yml")); gone == nil {
					err = errors.Join(err, os.Rename(filepath.Join(r.Dir, "docs", "example.yml"), filepath.Join(dir, "x.yml")))
				}
				return "Done.", err
			})
			_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), ".github/workflows/x.yml") {
				t.Errorf("it ends in %v", err)
			}
		})
	}
}

func TestFixTakesACommitOfTheModelsForNoFix(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		cmd := exec.Command("git", "-c", "user.name=m", "-c", "user.email=m@example.com", "commit", "-q", "--allow-empty", "-m", "mine")
		cmd.Dir = r.Dir
		return "Done.", cmd.Run()
	})
	if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, author.ErrForbidden) ||
		!strings.Contains(err.Error(), "made its own commits") {
		t.Errorf("it ends in %v", err)
	}
}

// TestFixOnAFullDisk checks that a session is not asked again if the disk is full, since it could not repair
// that.
func TestFixOnAFullDisk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("git is wrapped in a script of the shell's")
	}
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	full := filepath.Join(t.TempDir(), "full")
	git := filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\n[ -e " + full + " ] && case \"$*\" in *' add '*) echo 'fatal: unable to write new index file' >&2; exit 128;; " +
		"esac\nexec git \"$@\"\n"
	enginetest.Program(t, git, script)
	g.Worktrees.Git = git
	var asked []string
	_, err := newAuthor(g, turns(&asked, func(r loopback.Asked) (string, error) {
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			return "", err
		}
		return write("Done.", map[string]string{"code.txt": "safe()\n"})(r)
	})).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !worktree.DiskFault(err) || errors.Is(err, author.ErrUncommittable) || !strings.Contains(err.Error(), "free some space") ||
		len(asked) != 1 {
		t.Errorf("after %d turns it ends in %v", len(asked), err)
	}
}

func TestFixTellsTheSessionWhatGitCannotRecord(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	nested := func(r loopback.Asked) (string, error) {
		start := exec.Command("git", "-c", "init.defaultBranch=main", "init", "-q", "nested")
		commit := exec.Command("git", "-C", "nested", "-c", "user.name=m", "-c", "user.email=m@example.com", "commit", "-q", "--allow-empty",
			"-m", "mine")
		start.Dir, commit.Dir = r.Dir, r.Dir
		return "Done.", errors.Join(start.Run(), commit.Run())
	}
	mended := func(r loopback.Asked) (string, error) {
		if err := os.RemoveAll(filepath.Join(r.Dir, "nested")); err != nil {
			return "", err
		}
		return write("Done.", map[string]string{"code.txt": "safe()\n"})(r)
	}
	var asked []string
	out, err := newAuthor(g, turns(&asked, nested, mended)).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil || len(asked) != 2 || !strings.Contains(asked[1], "nested") {
		t.Errorf("%v after %d turns, the last told: %s", err, len(asked), asked[len(asked)-1])
	}
	if now := g.Read(loopback.Author, pr.Ref); now.Head.SHA != out.Head {
		t.Errorf("the head is %s, pushed was %s", now.Head.SHA, out.Head)
	}
}

// Not parallel: it sets a variable that must not reach the command.
func TestFixVerifies(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	// It needs code.txt to say safe(), prints what it sees, and leaves litter behind.
	const script = "verify:\n  command: [sh, -c, 'echo \"home is $HOME\" > litter; env | sort; cat code.txt; grep -q \"^safe\" code.txt']\n"
	t.Setenv("GITHUB_TOKEN", "not-for-children")
	gopath := t.TempDir()
	t.Setenv("GOPATH", gopath+string(os.PathListSeparator)+t.TempDir())
	t.Setenv("GOMODCACHE", "") // so that it is set again in the end
	os.Unsetenv("GOMODCACHE")
	setup := func(t *testing.T) (*loopback.GitHub, func(each ...func(loopback.Asked) (string, error)) ([]string, author.Outcome, error)) {
		g := loopback.New(t, map[string]string{".touchstone/config.yaml": script})
		g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n", ".touchstone/config.yaml": "verify:\n  command: [\"true\"]\n"})
		pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
		return g, func(each ...func(loopback.Asked) (string, error)) ([]string, author.Outcome, error) {
			var asked []string
			out, err := newAuthor(g, turns(&asked, each...)).Fix(t.Context(), pr, verdict.Allowance{}, nil)
			return asked, out, err
		}
	}
	wrong := write("Done.", map[string]string{"code.txt": "still wrong\n"})
	right := write("Done.", map[string]string{"code.txt": "safe()\n"})
	t.Run("a second go", func(t *testing.T) {
		g, fix := setup(t)
		asked, out, err := fix(wrong, right)
		if err != nil || len(asked) != 2 {
			t.Fatalf("%v after %d turns", err, len(asked))
		}
		if !strings.Contains(asked[1], "still wrong") || !strings.Contains(asked[1], "exit status 1") ||
			strings.Contains(asked[1], "not-for-children") {
			t.Errorf("the second turn was told %s", asked[1])
		}
		if !strings.Contains(asked[1], filepath.Join("cache", "1-author", "verify", "go-mod")) || strings.Contains(asked[1], gopath) {
			t.Errorf("modules are not kept for the repository alone: %s", asked[1])
		}
		if litter := pushedFile(t, g, out.Head, "litter"); litter != "-" || pushedFile(t, g, out.Head, "code.txt") != "safe()\n" {
			t.Errorf("what the command left behind was pushed: %q", litter)
		}
	})
	t.Run("what git ignores", func(t *testing.T) {
		g := loopback.New(t, map[string]string{".gitignore": "*.local\nbuilt/\n",
			".touchstone/config.yaml": "verify:\n  command: [sh, -c, 'test ! -e gen.local && test -e built/x']\n"})
		g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
		pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
		a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n", "gen.local": "x\n", "built/x": "x\n"}))
		if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); err != nil {
			t.Errorf("the command saw a file that no commit holds, or no build's: %v", err)
		}
	})
	t.Run("no third", func(t *testing.T) {
		_, fix := setup(t)
		asked, _, err := fix(wrong, write("Done.", map[string]string{"code.txt": "wrong again\n"}), right)
		if !errors.Is(err, author.ErrUnverified) || len(asked) != 2 || len(err.Error()) > 600 {
			t.Errorf("%v after %d turns", err, len(asked))
		}
	})
	t.Run("a merge that does not hold", func(t *testing.T) {
		g := loopback.New(t, map[string]string{".touchstone/config.yaml": script})
		g.Commit("topic", "Add code", map[string]string{"code.txt": "needs the old base\n"})
		ref := g.Open("topic")
		g.Commit("main", "Move on", map[string]string{"README.md": "new\n"})
		var asked []string
		_, err := newAuthor(g, turns(&asked, right)).Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
		if err != nil || len(asked) != 1 || !strings.Contains(asked[0], "needs the old base") {
			t.Errorf("%v after %d turns: %q", err, len(asked), asked)
		}
	})
}

// TestAVerifyCommandThatFailsOnTheBaseIsSaid checks that no session has to repair a failure that also occurs
// without the pull request, and that the person who is called learns of it.
func TestAVerifyCommandThatFailsOnTheBaseIsSaid(t *testing.T) {
	t.Parallel()
	// fails says how often the session is asked where that is the verify command.
	fails := func(t *testing.T, script string, turnsTaken int) {
		g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [sh, -c, '" + script + "']\n"})
		g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
		pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
		var asked []string
		a := newAuthor(g, turns(&asked, write("Done.", map[string]string{"code.txt": "safe()\n"})))
		_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
		if !errors.Is(err, author.ErrUnverified) || !errors.Is(err, author.ErrFailsOnBase) || !author.FailsOnBase(err.Error()) {
			t.Errorf("it ends in %v", err)
		}
		if len(asked) != turnsTaken {
			t.Fatalf("the session is asked %q", asked)
		}
		if turnsTaken > 1 && !strings.Contains(asked[1], "On the base, without this pull request, it ends with:\nbroken") {
			t.Errorf("the session is asked %q", asked[1])
		}
	}
	t.Run("in the same way", func(t *testing.T) { fails(t, "date +%s%N; echo broken; test -e never", 1) })
	t.Run("in another way", func(t *testing.T) { fails(t, "test ! -e code.txt || echo unsafe; echo broken; test -e never", 2) })
}

// TestAVerifyCommandThatFailsOnceIsSaidToBeUnreliable checks that work passes as one commit if its verify
// command fails once and then passes on the same work, and that the log reports an outcome that does not
// depend on the work alone.
func TestAVerifyCommandThatFailsOnceIsSaidToBeUnreliable(t *testing.T) {
	t.Parallel()
	// the first is the base's
	const second = "verify:\n  command: [sh, -c, 'cd \"$GOCACHE\" && echo x >> runs && test $(wc -l < runs) -ne 2']\n"
	g := loopback.New(t, map[string]string{".touchstone/config.yaml": second})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	var asked []string
	var log bytes.Buffer
	out, err := newAuthor(g, turns(&asked, write("Done.",
		map[string]string{"code.txt": "safe()\n"}))).Fix(zerolog.New(&log).WithContext(t.Context()), pr, verdict.Allowance{}, nil)
	if err != nil || len(asked) != 2 || strings.Contains(asked[1], "On the base") {
		t.Fatalf("it ends in %v; the session is asked %q", err, asked)
	}
	if commit := commitOf(g, out.Head); len(commit.Parents) != 1 || commit.Parents[0].SHA != pr.Head.SHA {
		t.Errorf("pushed %+v", commit)
	}
	for _, want := range []string{"verify runs on the fix", "verify failed", "the session is sent back to its work", "verify passed",
		"passed on the same work"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
}

func TestFixWithoutItsVerifyCommandSaysSo(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [no-such-program]\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	var asked []string
	_, err := newAuthor(g, turns(&asked, write("Done.", map[string]string{"code.txt": "safe()\n"}))).Fix(t.Context(), pr, verdict.Allowance{},
		nil)
	if !errors.Is(err, author.ErrNoVerify) || !strings.Contains(err.Error(), "no-such-program cannot be run") || len(asked) != 1 {
		t.Errorf("%v after %d turns", err, len(asked))
	}
}

func TestFixRecordsDisputes(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\nother()\n"})
	second := finding
	second.Quote, second.Line, second.Claim = "other()", 2, "So is this."
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding, second)
	first, other := verdict.Fingerprint(finding), verdict.Fingerprint(second)
	answer := "Repaired " + first + ": it is safe\nDisputed " + other +
		": @octocat says code.txt:2 is called nowhere\nDisputed 00000000: nothing of ours\n"
	out, err := newAuthor(g, write(answer, map[string]string{"code.txt": "safe()\nother()\n"})).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	message := commitOf(g, out.Head).Commit.Message
	if !strings.Contains(message, "\nTouchstone-Findings: "+first+"\n") || !strings.Contains(message, "\nTouchstone-Disputed: "+other+" ") ||
		strings.Contains(message, "00000000") || strings.Contains(message, "@octocat") {
		t.Errorf("the message is\n%s", message)
	}
	pr = g.Reviewed(pr.Ref, verdict.RequestChanges, second)
	var asked []string
	_, err = newAuthor(g, turns(&asked, write(answer, nil))).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrDisputed) || !strings.Contains(err.Error(), "disputes "+other) || len(asked) != 1 {
		t.Errorf("nothing but a dispute ends in %v after %d turns", err, len(asked))
	}
	pr = g.Reviewed(pr.Ref, verdict.RequestChanges, finding, second)
	_, err = newAuthor(g, turns(&asked, write(answer, nil))).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrNothingChanged) || !strings.Contains(err.Error(), "disputes "+other) || len(asked) != 3 {
		t.Errorf("a dispute of one of two ends in %v after %d turns", err, len(asked)-1)
	}
}
