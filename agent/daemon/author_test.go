package daemon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/journal"
	"touchstone/agent/merger"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
	"touchstone/worktree/await"
)

// authorOf is an author's agent with a model, all that it needs to fix, and a journal.
func authorOf(t *testing.T, g *loopback.GitHub, model loopback.Model) *worker.Agent {
	t.Helper()
	log, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	cfg := config.Default()
	cfg.Reviewers = []string{loopback.Judge}
	client := g.Client(loopback.Author)
	a := &worker.Agent{Role: decide.Author, Config: config.NewLive(cfg, nil).Config, Read: client, Journal: log,
		Caller: forge.NewSpeaker(client), Worktrees: g.Worktrees, Remote: client.Remote}
	a.Author = &author.Author{
		Worktrees: g.Worktrees, Engine: model, Read: client, Remote: client.Remote,
		Identity: worktree.Identity{Name: "Alice", Email: "alice@example.com"}, Reviewers: cfg.Reviewers, Unwanted: a.Unwanted,
	}
	return a
}

// running runs a daemon with an agent until the test is done with it; the result is that
// of Run.
func running(t *testing.T, a *worker.Agent) (ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done, result := make(chan struct{}), make(chan error, 1)
	d := &Daemon{Agent: a, Repos: []forge.Repo{loopback.Repo}, Sweep: time.Hour, Concurrency: 1}
	go func() { defer close(done); result <- d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return result
}

// Without a request for a review nothing happens, and why tells the reason.
func TestAReviewThatNobodyAsksForIsTold(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	ref := g.Open("topic")
	a := authorOf(t, g, nil)
	running(t, a)
	await.Until(t, "touchstone status tells whom to ask", func() bool {
		noted := ""
		a.Journal.Each(func(e journal.Entry) { noted += e.String() })
		return strings.Contains(noted, "nobody has asked "+loopback.Judge+" for a review: request it on GitHub, or comment /touchstone review")
	})
	g.Call(loopback.Author, http.MethodPost, "pulls/1/requested_reviewers", map[string]any{"reviewers": []string{loopback.Judge}}, nil)
	if _, action, err := a.Look(t.Context(), ref); err != nil || action.Reason != "this head is not reviewed yet" {
		t.Errorf("once it is requested, it comes to %+v, %v", action, err)
	}
}

// The sweep also finds that a pull request was closed, which no event may have told.
func TestASweepFindsWhatWasClosed(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	g.Open("topic")
	a := authorOf(t, g, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	d := &Daemon{Agent: a, Repos: []forge.Repo{loopback.Repo}, Sweep: 20 * time.Millisecond, Concurrency: 1}
	go func() { defer close(done); _ = d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	await.Until(t, "it waits for a review", func() (waits bool) {
		a.Journal.Each(func(e journal.Entry) { waits = waits || e.Act == journal.Wait })
		return waits
	})
	g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
	await.Until(t, "its worker ends", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.workers) == 0
	})
	var last journal.Entry
	a.Journal.Each(func(e journal.Entry) { last = e })
	if last.Act != journal.Over || !strings.Contains(last.Outcome.Detail, "closed") {
		t.Errorf("touchstone status is told %s", last)
	}
}

// The wait for a pull request that the agent may see no more is over.
func TestNothingIsAwaitedOfWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	ref := g.Open("topic")
	a := authorOf(t, g, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	d := &Daemon{Agent: a, Repos: []forge.Repo{loopback.Repo}, Sweep: time.Hour, Concurrency: 1}
	go func() { defer close(done); _ = d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	last := func() (act string) {
		a.Journal.Each(func(e journal.Entry) { act = e.Act })
		return act
	}
	await.Until(t, "it waits for a review", func() bool { return last() == journal.Wait })
	if err := g.Sim.SetPermission(ref.Repo.String(), loopback.Author, "none"); err != nil {
		t.Fatal(err)
	}
	d.hint(ctx, Hint{Repo: ref.Repo, Number: ref.Number})
	await.Until(t, "the wait is over", func() bool { return last() == journal.Over })
}

// A merge that git could not show is compared with what was approved once git can: no event may come after that of the merge.
func TestAMergeIsCheckedAfterAnOutage(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.Approve)
	a := authorOf(t, g, nil)
	client := g.Client(loopback.Author)
	cfg := a.Config()
	cfg.Merge.RequireChecks = false
	a.Config = config.NewLive(cfg, nil).Config
	a.Merger = &merger.Merger{Read: client, Act: forge.NewMerger(client), Decider: a.Decider}
	var down atomic.Bool
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") {
			down.Store(true)
		}
		if down.Load() && r.URL.Query().Get("service") == "git-upload-pack" {
			return githubsim.Fault{Status: http.StatusServiceUnavailable}
		}
		return githubsim.Fault{}
	})
	checks := func(ok bool) (n int) {
		a.Journal.Each(func(e journal.Entry) {
			if e.Act == "check-merge" && !e.Ended.IsZero() && e.Outcome.OK == ok {
				n++
			}
		})
		return n
	}
	running(t, a)
	await.Until(t, "it is merged, and cannot be checked", func() bool { return checks(false) == 2 })
	down.Store(false)
	await.Until(t, "the merge is checked", func() bool { return checks(true) == 1 })
	if now := g.Read(loopback.Root, pr.Ref); len(now.Comments) > 0 || len(now.Labels) > 0 {
		t.Errorf("people are called: %+v", now)
	}
}

// TestATokenThatExpiresMidRunEndsTheAgent checks that a token that expires during a session, or just before
// the push, ends the agent with a message. Nobody is called to the pull request for it.
func TestATokenThatExpiresMidRunEndsTheAgent(t *testing.T) {
	t.Parallel()
	for name, withThePush := range map[string]bool{"during the session": false, "with the push": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, verdict.Finding{
				Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S1", Path: "code.txt", Line: 1, Quote: "unsafe()",
				Claim: "This is unsafe.",
			})
			var expired atomic.Bool
			g.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault {
				if r.URL.Query().Get("service") == "git-receive-pack" {
					expired.Store(true)
				}
				if expired.Load() && login != loopback.Root {
					return githubsim.Fault{Status: http.StatusUnauthorized}
				}
				return githubsim.Fault{}
			})
			a := authorOf(t, g, func(r loopback.Asked) (string, error) {
				expired.Store(!withThePush)
				return "Done.", os.WriteFile(filepath.Join(r.Dir, "code.txt"), []byte("safe()\n"), 0o600)
			})
			rang := make(chan string, 9)
			hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				rang <- string(text)
			}))
			defer hook.Close()
			cfg := a.Config()
			cfg.Notify.SlackWebhook = config.Secret(hook.URL)
			a.Config = config.NewLive(cfg, nil).Config
			select {
			case err := <-running(t, a):
				if !errors.Is(err, forge.ErrUnauthorized) || !strings.Contains(err.Error(), "create a new one and set GITHUB_TOKEN") ||
					strings.Contains(err.Error(), "protection") {
					t.Errorf("it ends in %v", err)
				}
			case <-time.After(await.Patience):
				t.Fatal("it goes on")
			}
			if len(rang) != 1 || !strings.Contains(<-rang, "has ended; start it again: ") {
				t.Error("its owner is not told, or not once")
			}
			if n, _ := a.Journal.Attempts(pr.Ref.String(), pr.Head.SHA, time.Time{}); n != 0 {
				t.Errorf("it counts as %d attempts", n)
			}
			now := g.Read(loopback.Root, pr.Ref)
			if now.Head.SHA != pr.Head.SHA || len(now.Comments) > 0 || len(now.Labels) > 0 {
				t.Errorf("it left %+v", now)
			}
		})
	}
}

// TestAHintEndsAnActThatHasBecomeUseless checks that an act goes on unless GitHub shows that it is useless.
func TestAHintEndsAnActThatHasBecomeUseless(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(*loopback.GitHub)
		ends      string // why the act ends; empty if it goes on
	}{
		"somebody chats": {func(g *loopback.GitHub) {
			g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "How nice."}, nil)
		}, ""},
		"it is closed": {func(g *loopback.GitHub) {
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
		}, "the pull request changed: the pull request is closed"},
		"GitHub does not answer": {func(g *loopback.GitHub) {
			g.Sim.Intercept(func(string, *http.Request) githubsim.Fault { return githubsim.Fault{Status: http.StatusBadGateway} })
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
			pr := g.Read(loopback.Author, g.Open("topic"))
			a := authorOf(t, g, nil)
			tc.meanwhile(g)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			hints := make(chan struct{})
			go (&Daemon{Agent: a}).watch(ctx, pr, decide.Fix, hints, cancel)
			for range 2 { // the second hint is taken once the first has been looked into
				select {
				case hints <- struct{}{}:
				case <-ctx.Done():
				}
			}
			if why := context.Cause(ctx); (why == nil) != (tc.ends == "") || why != nil && (!worker.Overtaken(why) || why.Error() != tc.ends) {
				t.Errorf("it ends because %v", why)
			}
		})
	}
}
