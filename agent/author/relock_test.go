package author_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree"
)

// lockTool puts a lock tool before all others on PATH, as a script of the Unix shell.
func lockTool(t *testing.T, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the lock tool of this test is a Unix shell script")
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// A tool that has no login for its registry is as good as none. Not parallel: it sets PATH.
func TestFixLeavesALockFileWhoseToolFailsToTheSession(t *testing.T) {
	lockTool(t, "npm", "echo spoilt >package-lock.json\necho E401 >&2\nexit 1\n")
	g := loopback.New(t, map[string]string{"package-lock.json": "{\"v\": 1}\n"})
	g.Commit("topic", "Add code", map[string]string{"package-lock.json": "{\"v\": 2}\n", "package.json": "{}\n"})
	ref := g.Open("topic")
	g.Commit("main", "Move on", map[string]string{"package-lock.json": "{\"v\": 3}\n"})
	var asked []string
	var conflict []byte
	a := newAuthor(g, turns(&asked, func(r loopback.Asked) (_ string, err error) {
		conflict, err = os.ReadFile(filepath.Join(r.Dir, "package-lock.json"))
		return "Done.", errors.Join(err, os.WriteFile(filepath.Join(r.Dir, "package-lock.json"), []byte("{\"v\": 4}\n"), 0o644))
	}))
	out, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if err != nil || len(asked) != 1 || !strings.Contains(asked[0], `"package-lock.json" (a lock file whose tool`) {
		t.Fatalf("%v after %d turns: %q", err, len(asked), asked)
	}
	for _, side := range []string{`"v": 1`, `"v": 2`, `"v": 3`, "<<<<<<<"} {
		if !strings.Contains(string(conflict), side) {
			t.Errorf("the session has no %s before it: %s", side, conflict)
		}
	}
	if text := pushedFile(t, g, out.Head, "package-lock.json"); text != "{\"v\": 4}\n" {
		t.Errorf("pushed was %q", text)
	}
}

func TestFixMakesLockFilesAnew(t *testing.T) {
	t.Parallel()
	const unneeded = "github.com/octocat/hello v1.0.0 h1:6m/oheQuQ13N9ks4hubMG6BnvwOeaJrqSPLahSnczz8=\n"
	g := loopback.New(t, map[string]string{"go.mod": "module example.com/app\n\ngo 1.24\n", "go.sum": "base\n", "app.go": "package app\n"})
	g.Commit("topic", "Ours", map[string]string{"go.sum": "ours\n"})
	ref := g.Open("topic")
	g.Commit("main", "Theirs", map[string]string{"go.sum": unneeded})
	out, err := newAuthor(g, unexpected(t)).Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(commitOf(g, out.Head).Parents) != 2 {
		t.Error("what was pushed is no merge")
	}
	if sums := pushedFile(t, g, out.Head, "go.sum"); sums != "" {
		t.Errorf("go.sum is %q: the module needs none", sums)
	}
}

// Not parallel: it sets PATH. A tool may run what the branch holds.
func TestFixLooksThroughWhatLockToolsWrite(t *testing.T) {
	for name, why := range map[string]string{
		".touchstone/config.yaml":    ".touchstone/config.yaml",
		".github/workflows/evil.yml": "which gives a pipeline access to credentials",
	} {
		t.Run(name, func(t *testing.T) {
			lockTool(t, "bundle", "mkdir -p \"$(dirname "+name+")\"\necho 'A: ${{ secrets.A }}' >"+name+"\necho made >Gemfile.lock\n")
			g := loopback.New(t, map[string]string{"Gemfile": "base\n", "Gemfile.lock": "base\n"})
			g.Commit("topic", "Ours", map[string]string{"Gemfile": "ours\n", "Gemfile.lock": "ours\n", "code.txt": "unsafe()\n"})
			ref := g.Open("topic")
			g.Commit("main", "Theirs", map[string]string{"Gemfile.lock": "theirs\n"})
			pr := g.Reviewed(ref, verdict.RequestChanges, finding)
			_, err := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"})).Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, author.ErrForbidden) || !strings.Contains(err.Error(), why) {
				t.Errorf("it ends in %v", err)
			}
			if g.Read(loopback.Author, ref).Head.SHA != pr.Head.SHA {
				t.Error("something was pushed")
			}
		})
	}
}

// Not parallel: it sets PATH. The second turn changes what the lock file is made of.
func TestFixMakesLockFilesAnewAfterEachTurn(t *testing.T) {
	lockTool(t, "bundle", "cat Gemfile >Gemfile.lock\n")
	g := loopback.New(t, map[string]string{"Gemfile": "base\n", "Gemfile.lock": "base\n",
		".touchstone/config.yaml": "verify:\n  command: [grep, second, Gemfile]\n"})
	g.Commit("topic", "Ours", map[string]string{"Gemfile": "ours\n", "Gemfile.lock": "ours\n", "code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	g.Commit("main", "Theirs", map[string]string{"Gemfile.lock": "theirs\n"})
	var asked []string
	a := newAuthor(g, turns(&asked, write("Done.", map[string]string{"Gemfile": "first\n"}),
		write("Done.", map[string]string{"Gemfile": "second\n"})))
	out, err := a.Fix(t.Context(), g.Reviewed(ref, verdict.RequestChanges, finding), verdict.Allowance{}, nil)
	if err != nil || len(asked) != 2 {
		t.Fatalf("%v after %d turns", err, len(asked))
	}
	if lock := pushedFile(t, g, out.Head, "Gemfile.lock"); lock != "second\n" {
		t.Errorf("the lock file is %q", lock)
	}
}

// TestFixLeavesLockFilesToTheModelWhereItMust checks that a lock file whose manifest is in conflict waits for
// the session to resolve the manifest.
func TestFixLeavesLockFilesToTheModelWhereItMust(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"go.mod": "no module at all\n", "go.sum": "base\n", "deps.lock": "base\n"})
	g.Commit("topic", "Ours", map[string]string{"go.mod": "ours\n", "go.sum": "ours\n", "deps.lock": "ours\n"})
	ref := g.Open("topic")
	g.Commit("main", "Theirs", map[string]string{"go.mod": "theirs\n", "go.sum": "theirs\n", "deps.lock": "theirs\n"})
	var asked []string
	a := newAuthor(g, turns(&asked, func(r loopback.Asked) (string, error) {
		if text, err := os.ReadFile(filepath.Join(r.Dir, "go.sum")); err != nil || string(text) != "theirs\n" {
			t.Errorf("the base's go.sum is not there: %q, %v", text, err)
		}
		return write("Done.", map[string]string{"go.mod": "no module at all\n", "deps.lock": "theirs\n"})(r)
	}))
	_, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrConflicts) || !strings.Contains(err.Error(), "cannot be regenerated") {
		t.Errorf("it ends in %v", err)
	}
	if len(asked) != 2 || strings.Contains(asked[0], "go.sum") || !strings.Contains(asked[0], `"deps.lock" (a lock file whose tool`) ||
		!strings.Contains(asked[1], "go.mod") {
		t.Errorf("the session was asked\n%s", strings.Join(asked, "\n"))
	}
}

// pushedFile is a file of a commit that was pushed; "-" where there is none.
func pushedFile(t *testing.T, g *loopback.GitHub, sha, name string) string {
	t.Helper()
	pr := g.Read(loopback.Author, forge.Ref{Repo: loopback.Repo, Number: 1})
	url, authorization, err := g.Client(loopback.Author).Remote(t.Context(), loopback.Repo)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := g.Worktrees.Acquire(t.Context(), worktree.Request{
		Remote: worktree.Remote{URL: url, Authorization: authorization}, Repo: loopback.Repo.String(), Number: 1, Role: "author",
		Head: sha, HeadRef: "refs/heads/" + pr.Head.Name, Base: pr.Base.SHA, BaseRef: "refs/heads/" + pr.Base.Name,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	text, err := tree.ReadFile(t.Context(), sha, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
