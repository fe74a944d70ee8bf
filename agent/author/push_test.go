package author_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/sandbox"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// TestFixThatLostTheRace checks that commits that reach the branch during a fix decide what happens to the
// fix.
func TestFixThatLostTheRace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	const script = "verify:\n  command: [sh, -c, 'grep -q \"^safe\" code.txt && ! grep -q broken README.md']\n"
	merged := func(base map[string]string) func(*loopback.GitHub, forge.Ref) {
		return func(g *loopback.GitHub, _ forge.Ref) {
			g.Commit("main", "Move on", base)
			g.Call(loopback.Person, http.MethodPut, "pulls/1/update-branch", map[string]any{}, nil)
		}
	}
	for name, tc := range map[string]struct {
		meanwhile func(*loopback.GitHub, forge.Ref)
		want      error // nil where the fix is pushed on top of what came
		why       string
	}{
		"the base was merged":               {merged(map[string]string{"README.md": "two\n"}), nil, ""},
		"and with it the fix does not hold": {merged(map[string]string{"README.md": "broken\n"}), author.ErrUnverified, "exit status 1"},
		"and the fix conflicts with it":     {merged(map[string]string{"other.txt": "theirs\n"}), author.ErrOvertaken, "conflicts"},
		"somebody worked on it": {func(g *loopback.GitHub, _ forge.Ref) {
			g.Commit("topic", "Mine", map[string]string{"mine.txt": "mine\n"})
		}, author.ErrOvertaken, "is kept in the mirror"},
		"somebody worked on it and merged": {func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("topic", "Mine", map[string]string{"mine.txt": "mine\n"})
			merged(map[string]string{"README.md": "two\n"})(g, ref)
		}, author.ErrOvertaken, "is kept in the mirror"},
		"somebody took a commit off": {func(g *loopback.GitHub, ref forge.Ref) {
			older := commitOf(g, g.Read(loopback.Author, ref).Head.SHA).Parents[0].SHA
			g.Call(loopback.Person, http.MethodPatch, "git/refs/heads/topic", map[string]any{"sha": older, "force": true}, nil)
		}, author.ErrOvertaken, "is kept in the mirror"},
		"somebody squashed it": {func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("squashed", "Add code", map[string]string{"begin.txt": "leak\n", "code.txt": "unsafe()\n"})
			var squashed struct{ Object struct{ SHA string } }
			g.Call(loopback.Person, http.MethodGet, "git/ref/heads/squashed", nil, &squashed)
			g.Call(loopback.Person, http.MethodPatch, "git/refs/heads/topic", map[string]any{"sha": squashed.Object.SHA, "force": true}, nil)
		}, author.ErrOvertaken, "is kept in the mirror"},
		"it was closed": {func(g *loopback.GitHub, _ forge.Ref) {
			g.Commit("topic", "Mine", map[string]string{"mine.txt": "mine\n"})
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
		}, author.ErrOvertaken, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n", ".touchstone/config.yaml": script})
			g.Commit("topic", "Begin", map[string]string{"begin.txt": "leak\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			ref := g.Open("topic")
			pr := g.Reviewed(ref, verdict.RequestChanges, finding)
			var theirs string
			a := newAuthor(g, func(r loopback.Asked) (string, error) {
				tc.meanwhile(g, ref)
				theirs = g.Read(loopback.Author, ref).Head.SHA
				return write("Done.", map[string]string{"code.txt": "safe()\n", "other.txt": "ours\n"})(r)
			})
			out, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.why) {
				t.Fatalf("it ends in %v, want %v with %q", err, tc.want, tc.why)
			}
			head := g.Read(loopback.Author, ref).Head.SHA
			if tc.want != nil {
				if head != theirs {
					t.Errorf("%s was pushed over %s", head, theirs)
				}
				if strings.Contains(tc.why, "aside") && !strings.Contains(leftovers(t, g), out.Head) {
					t.Errorf("%s is not set aside: %s", out.Head, leftovers(t, g))
				}
				return
			}
			commit := commitOf(g, head)
			if head != out.Head || len(commit.Parents) != 2 || commit.Parents[0].SHA != theirs ||
				commit.Commit.Message != "Merge branch 'main' into topic" {
				t.Errorf("pushed %+v on top of %s", commit, theirs)
			}
			if pushedFile(t, g, head, "code.txt") != "safe()\n" || pushedFile(t, g, head, "README.md") != "two\n" {
				t.Error("one of the two is lost")
			}
		})
	}
}

// leftovers are the commits that the worktrees' mirror keeps for their owner.
func leftovers(t *testing.T, g *loopback.GitHub) string {
	t.Helper()
	mirror := filepath.Join(g.Worktrees.Root, "acme", "app", "mirror.git")
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir", mirror, "rev-list", "--all").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestAPushThatHangsIsAnOutage(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	over := make(chan struct{})
	defer close(over)
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			<-over
		}
		return githubsim.Fault{}
	})
	a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
	a.PushTimeout = 2 * time.Second
	if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, worktree.ErrUnavailable) ||
		errors.Is(err, author.ErrUnpushable) {
		t.Errorf("it ends in %v", err)
	}
}

// TestAFixIsPushedWithATokenOfItsTime has a session that outlives the token with which the worktree was acquired.
func TestAFixIsPushedWithATokenOfItsTime(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	_, expired, err := g.Client(loopback.Root).Remote(t.Context(), loopback.Repo)
	if err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if over.Load() && r.Header.Get("Authorization") == expired {
			return githubsim.Fault{Status: http.StatusUnauthorized}
		}
		return githubsim.Fault{}
	})
	fix := write("Done.", map[string]string{"code.txt": "safe()\n"})
	a := newAuthor(g, func(asked loopback.Asked) (string, error) { over.Store(true); return fix(asked) })
	present := a.Remote
	a.Remote = func(ctx context.Context, repo forge.Repo) (string, string, error) {
		url, authorization, err := present(ctx, repo)
		if !over.Load() {
			authorization = expired
		}
		return url, authorization, err
	}
	out, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil || g.Read(loopback.Author, ref).Head.SHA != out.Head {
		t.Errorf("it ends in %v", err)
	}
}

func TestFixThatGitHubDoesNotTake(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		want   error
	}{
		"the branch is protected":         {http.StatusForbidden, author.ErrUnpushable},
		"it takes another login":          {http.StatusUnauthorized, author.ErrUnpushable},
		"the repository is gone":          {http.StatusNotFound, author.ErrUnpushable},
		"GitHub has a problem of its own": {http.StatusServiceUnavailable, worktree.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			ref := g.Open("topic")
			pr := g.Reviewed(ref, verdict.RequestChanges, finding)
			g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
				if r.URL.Query().Get("service") == "git-receive-pack" || strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
					return githubsim.Fault{Status: tc.status}
				}
				return githubsim.Fault{}
			})
			_, err := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"})).Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, tc.want) || errors.Is(err, author.ErrOvertaken) || strings.Contains(err.Error(), "token-of") {
				t.Errorf("it ends in %v", err)
			}
			if g.Read(loopback.Author, ref).Head.SHA != pr.Head.SHA {
				t.Error("something was pushed")
			}
		})
	}
}

// A fix says in its commit what it changed and cost, so that the next rounds know.
func TestFixSaysWhatItDid(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n", "other.txt": "1\n", "a.bin": "\x00"})
	ref := g.Open("topic")
	var asked engine.Request
	fix := func(files map[string]string) verdict.Repair {
		t.Helper()
		pr := g.Reviewed(ref, verdict.RequestChanges, finding)
		a := newAuthor(g, func(r loopback.Asked) (string, error) {
			asked = r.Request
			return write("Done.", files)(r)
		})
		a.Settings = func() config.Engine { return config.Engine{MaxTurns: 7, ToolTimeout: config.Duration(time.Hour)} }
		out, err := a.Fix(t.Context(), pr, verdict.Allowance{USD: 1.5, Time: time.Minute}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := verdict.ParseRepair(commitOf(g, out.Head).Commit.Message)
		if !ok || r.Reviewed != pr.Head.SHA || len(r.Findings) != 1 || r.Change == "" || r.Undoes == "" {
			t.Fatalf("the commit says %+v", r)
		}
		return r
	}
	first := fix(map[string]string{"code.txt": "safe()\n"})
	second := fix(map[string]string{"other.txt": "2\n", "a.bin": "\x00\x01"})
	third := fix(map[string]string{"code.txt": "unsafe()\n"})
	if third.Undoes != first.Change || third.Change != first.Undoes {
		t.Errorf("%+v takes back %+v, and nobody sees it", third, first)
	}
	if second.Undoes == first.Change || second.Change == first.Change {
		t.Errorf("%+v and %+v are taken for the same", second, first)
	}
	if asked.Budget != 1.5 || asked.Timeout != time.Minute || asked.MaxTurns != 7 || asked.ToolTimeout != time.Hour {
		t.Errorf("the session may take $%v, %v and %d steps, its commands %v", asked.Budget, asked.Timeout, asked.MaxTurns, asked.ToolTimeout)
	}
}

func TestFixStopsAVerifyCommandThatHangs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	const hangs = "verify:\n  command: [sh, -c, 'test ! -e code.txt || { echo still at it; sleep 1000; }']\n  timeout: 1s\n"
	g := loopback.New(t, map[string]string{".touchstone/config.yaml": hangs})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	rejected(t, g, map[string]string{"code.txt": "safe()\n"}, author.ErrUnverified, "did not finish within 1s")
}

// TestFixPushesNothingThatTheVerifyCommandCommits checks that only the verified commit is pushed, even if no
// sandbox prevents a command from committing.
func TestFixPushesNothingThatTheVerifyCommandCommits(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [sh, -c, 'echo later >> code.txt; git -c " +
		"user.name=x -c user.email=x@example.com commit --quiet --all --amend --message=sneaky']\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
	a.Settings = func() config.Engine { return config.Engine{Sandbox: config.Off} }
	out, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	head := g.Read(loopback.Author, pr.Ref).Head.SHA
	if err != nil || head != out.Head || pushedFile(t, g, head, "code.txt") != "safe()\n" {
		t.Errorf("%v; the branch is at %s, and verified was %s", err, head, out.Head)
	}
}

// needSandbox skips a test where nothing confines commands; in CI that is a failure.
func needSandbox(t *testing.T) {
	t.Helper()
	if _, err := sandbox.Level(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: nothing confines commands on this machine: %v", err)
	}
}

// TestFixConfinesTheVerifyCommand checks that a verify command, which runs code of the branch, can write only
// where it works.
func TestFixConfinesTheVerifyCommand(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	for name, tc := range map[string]struct {
		sandbox string
		want    error
	}{
		"as by default": {config.Auto, author.ErrUnverified},
		"switched off":  {config.Off, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canary := filepath.Join(t.TempDir(), "canary")
			g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [sh, -c, 'echo > here && echo > $HOME/there " +
				"&& echo > /dev/null && echo caught > " + canary + "']\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
			a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
			a.Settings = func() config.Engine { return config.Engine{Sandbox: tc.sandbox} }
			_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), canary) {
				t.Errorf("it ends in %v", err)
			}
			if _, err := os.Stat(canary); (err == nil) != (tc.want == nil) {
				t.Errorf("outside the worktree: %v", err)
			}
		})
	}
}

// TestFixHidesWhatIsPrivateFromTheVerifyCommand checks that code of the branch cannot read the paths that the
// configuration calls private.
func TestFixHidesWhatIsPrivateFromTheVerifyCommand(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := loopback.New(t, map[string]string{".touchstone/config.yaml": "verify:\n  command: [sh, -c, 'git log -1 && echo the log was read " +
		"&& cat " + secret + "']\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
	a.Private = []string{secret, a.Worktrees.Root}
	_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrUnverified) || !strings.Contains(err.Error(), "Permission denied") ||
		strings.Contains(err.Error(), "SECRET") {
		t.Errorf("it ends in %v", err)
	}
}

// An agent's own commits, a merge of the base among them, look like nobody has rewritten
// them.
func TestFixesLookLikeNobodyRewroteThem(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	if _, err := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"})).Fix(t.Context(), pr, verdict.Allowance{},
		nil); err != nil {
		t.Fatal(err)
	}
	commits, err := g.Client(loopback.Author).Commits(t.Context(), ref)
	if err != nil || len(commits) != 3 {
		t.Fatalf("%+v, %v", commits, err)
	}
	for _, c := range commits {
		if c.Rewritten {
			t.Errorf("%+v", c)
		}
	}
}

func TestFixIsNotPushedOnceItIsNotWanted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(*loopback.GitHub)
		unwanted  string
		want      string // a part of the reason; empty where it is pushed
	}{
		"nothing happens":     {func(*loopback.GitHub) {}, "", ""},
		"the decision is off": {func(*loopback.GitHub) {}, "octocat has stopped the agents here", "octocat has stopped the agents here"},
		"it is closed": {func(g *loopback.GitHub) {
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
		}, "", "was closed"},
		"its base is changed": {func(g *loopback.GitHub) {
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"base": "release"}, nil)
		}, "", "its base branch is release now"},
		"a commit is taken off its base": {func(g *loopback.GitHub) {
			older := commitOf(g, g.Read(loopback.Author, forge.Ref{Repo: loopback.Repo, Number: 1}).Base.SHA).Parents[0].SHA
			g.Call(loopback.Person, http.MethodPatch, "git/refs/heads/main", map[string]any{"sha": older, "force": true}, nil)
		}, "", "main was replaced by a force push"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("release", "Begin", map[string]string{"release.txt": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			ref := g.Open("topic")
			g.Commit("main", "Move on", map[string]string{"onlymain.txt": "one\n"})
			pr := g.Reviewed(ref, verdict.RequestChanges, finding)
			fix := write("Done.", map[string]string{"code.txt": "safe()\n"})
			a := newAuthor(g, func(asked loopback.Asked) (string, error) { tc.meanwhile(g); return fix(asked) })
			a.Unwanted = func(_ context.Context, _ decide.Kind, begun, now forge.PullRequest) (string, error) {
				if begun.Head != pr.Head || now.Head != pr.Head {
					t.Errorf("it is asked about %+v and %+v", begun.Head, now.Head)
				}
				return tc.unwanted, nil
			}
			_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if (tc.want == "") != (err == nil) || err != nil && (!errors.Is(err, author.ErrOvertaken) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("it ends in %v", err)
			}
			if pushed := g.Read(loopback.Author, ref).Head.SHA != pr.Head.SHA; pushed != (tc.want == "") {
				t.Errorf("pushed: %v", pushed)
			}
		})
	}
}

// TestFixHearsAStopWhileItCatchesUp checks that a push that comes too late asks again whether the fix is
// still wanted.
func TestFixHearsAStopWhileItCatchesUp(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	var stopped atomic.Bool
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if r.URL.Query().Get("service") == "git-receive-pack" && stopped.CompareAndSwap(false, true) {
			g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
			g.Call(loopback.Person, http.MethodPut, "pulls/1/update-branch", map[string]any{}, nil)
		}
		return githubsim.Fault{}
	})
	a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
	a.Unwanted = func(_ context.Context, _ decide.Kind, _, now forge.PullRequest) (string, error) {
		if now.Head.SHA != pr.Head.SHA {
			return "octocat has stopped the agents here", nil
		}
		return "", nil
	}
	_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrOvertaken) || !strings.Contains(err.Error(), "has stopped the agents") {
		t.Errorf("it ends in %v", err)
	}
	if pushedFile(t, g, g.Read(loopback.Author, ref).Head.SHA, "code.txt") != "unsafe()\n" {
		t.Error("it was pushed after the stop")
	}
}

func TestFixNeedsARecentGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the git of this test is a Unix shell script")
	}
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	// The store that has read the change knows its git already.
	g.Worktrees = &worktree.Store{Root: t.TempDir(), Git: filepath.Join(t.TempDir(), "git")}
	enginetest.Program(t, g.Worktrees.Git, "#!/bin/sh\necho git version 2.20.1\n")
	if _, err := newAuthor(g, unexpected(t)).Fix(t.Context(), pr, verdict.Allowance{}, nil); err == nil ||
		!strings.Contains(err.Error(), "git is 2.20: install 2.38 or newer") {
		t.Errorf("it ends in %v", err)
	}
}
