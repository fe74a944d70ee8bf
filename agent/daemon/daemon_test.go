package daemon

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/journal"
	"touchstone/agent/reviewer"
	"touchstone/agent/worker"
	"touchstone/guidelines"
	"touchstone/verdict/decide"
	"touchstone/worktree/await"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// working is a reviewer's daemon at work. Hints come from the test.
type working struct {
	*loopback.GitHub
	t      *testing.T
	daemon *Daemon
	hint   func(Hint)
	follow chan func(Hint)
	// journal is the directory of its journal.
	journal string
	// looks counts the times that the agent has asked for a pull request's state.
	looks atomic.Int32
}

// Follow hands the means to hint to the test.
func (w *working) Follow(ctx context.Context, hint func(Hint)) error {
	w.follow <- hint
	<-ctx.Done()
	return ctx.Err()
}

// start has a daemon look after a repository in which what open opens is open
// from the start.
func start(t *testing.T, concurrency int, session loopback.Model, open func(*working)) *working {
	t.Helper()
	w := &working{GitHub: loopback.New(t, map[string]string{"README.md": "one\n"}), t: t, follow: make(chan func(Hint), 1)}
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	w.journal = t.TempDir()
	log, err := journal.Open(w.journal)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Review = config.ReviewAll
	cfg.Rounds.Backoff = config.Duration(time.Hour) // one session each is what these tests want
	client := w.Client(loopback.Judge)
	a := &worker.Agent{Role: decide.Reviewer, Config: config.NewLive(cfg, nil).Config, Read: client, Journal: log,
		Caller: forge.NewSpeaker(client), Worktrees: w.Worktrees, Remote: client.Remote}
	a.Reviewer = &reviewer.Reviewer{
		Examiner:  reviewer.Examiner{Engine: session, Guidelines: rules, TempDir: t.TempDir()},
		Worktrees: w.Worktrees, Read: client, Post: forge.NewPoster(client), Say: forge.NewSpeaker(client), Resolve: forge.NewResolver(client),
		Withdraw: forge.NewWithdrawer(client), Remote: client.Remote,
	}
	w.daemon = &Daemon{Agent: a, Follow: w, Repos: []forge.Repo{loopback.Repo}, Sweep: time.Hour, Concurrency: concurrency}
	open(w)
	w.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault {
		if login == loopback.Judge && strings.HasSuffix(r.URL.Path, "/graphql") {
			w.looks.Add(1)
		}
		return githubsim.Fault{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- errors.Join(w.daemon.Run(ctx), log.Close()) }()
	w.hint = <-w.follow
	t.Cleanup(func() {
		if entries, err := journal.Read(w.journal); t.Failed() {
			t.Logf("the journal tells %v, %v", entries, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *working) open(branch string) forge.Ref {
	w.Commit(branch, "Add code", map[string]string{branch + ".txt": "fine\n"})
	return w.Open(branch)
}

func (w *working) until(what string, holds func() bool) {
	w.t.Helper()
	await.Until(w.t, what, holds)
}

// idle reports whether no pull request has a worker.
func (w *working) idle() bool {
	w.daemon.mu.Lock()
	defer w.daemon.mu.Unlock()
	return len(w.daemon.workers) == 0
}

func crash(loopback.Asked) (string, error) {
	return "", engine.Errorf(engine.Crash, "it crashed")
}

func TestActsAreBounded(t *testing.T) {
	t.Parallel()
	var running, most, all atomic.Int32
	two := make(chan struct{})
	var github *loopback.GitHub
	w := start(t, 2, func(r loopback.Asked) (string, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); n > seen; seen = most.Load() {
			if most.CompareAndSwap(seen, n) && n == 2 {
				close(two)
			}
		}
		select {
		case <-two:
		case <-t.Context().Done():
		}
		// A session that lasts long enough for all others to begin if they may.
		for range 50 {
			github.Read(loopback.Root, forge.Ref{Repo: loopback.Repo, Number: 1})
		}
		all.Add(1)
		return crash(r)
	}, func(w *working) {
		github = w.GitHub
		for _, branch := range []string{"one", "two", "three", "four"} {
			w.open(branch)
		}
	})
	w.until("all are reviewed", func() bool { return all.Load() == 4 })
	if got := most.Load(); got != 2 {
		t.Errorf("%d sessions at once, want 2", got)
	}
}

func TestHintsCoalesce(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(gate) }) }
	ref := forge.Ref{Repo: loopback.Repo, Number: 1}
	// What is closed from the start the first sweep leaves alone, however late it looks.
	w := start(t, 1, crash, func(w *working) {
		w.open("topic")
		w.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
	})
	t.Cleanup(release)
	w.until("the first sweep", func() bool { return w.looks.Load() == 1 && w.idle() })
	before := w.looks.Load()
	w.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault {
		if login == loopback.Judge && strings.HasSuffix(r.URL.Path, "/graphql") {
			w.looks.Add(1)
			<-gate
		}
		return githubsim.Fault{}
	})
	w.hint(Hint{Repo: ref.Repo, Number: ref.Number})
	w.until("the first look", func() bool { return w.looks.Load() == before+1 })
	for range 100 {
		w.hint(Hint{Repo: ref.Repo, Number: ref.Number})
		w.hint(Hint{Repo: ref.Repo})
	}
	release()
	w.until("nothing is left to do", w.idle)
	if got := w.looks.Load() - before; got != 2 {
		t.Errorf("%d looks, want the one that was under way and one for all that came meanwhile", got)
	}
}

// TestNoHintIsLostToARetiringWorker hints at the very moment in which a worker
// that has nothing to do goes away.
func TestNoHintIsLostToARetiringWorker(t *testing.T) {
	t.Parallel()
	w := start(t, 1, crash, func(w *working) { w.open("topic") })
	w.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
	ref := forge.Ref{Repo: loopback.Repo, Number: 1}
	w.until("the first sweep", func() bool { return w.looks.Load() >= 1 && w.idle() })
	for range 200 {
		before := w.looks.Load()
		w.hint(Hint{Repo: ref.Repo, Number: ref.Number})
		w.until("the hint is followed", func() bool { return w.looks.Load() > before })
	}
}

func TestWorktreesAreHandedOn(t *testing.T) {
	t.Parallel()
	var sessions atomic.Int32
	w := start(t, 1, func(r loopback.Asked) (string, error) { sessions.Add(1); return crash(r) }, func(w *working) { w.open("topic") })
	home := filepath.Join(w.Worktrees.Root, "acme", "app")
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(home, name)); return err == nil }
	w.until("a review, and a spare worktree for the next",
		func() bool { return sessions.Load() == 1 && exists("1-reviewer") && exists("spare") })
	w.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": "closed"}, nil)
	w.until("the worktree is given up", func() bool { w.hint(Hint{Repo: loopback.Repo, Number: 1}); return !exists("1-reviewer") })
}

func TestRunEndsWhenTheRelayRefuses(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	client := g.Client(loopback.Judge)
	log, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	d := &Daemon{
		Agent:  &worker.Agent{Config: config.Default, Read: client, Journal: log, Worktrees: g.Worktrees, Remote: client.Remote},
		Follow: refusing{}, Repos: []forge.Repo{loopback.Repo}, Sweep: time.Hour,
	}
	if err := d.Run(t.Context()); !errors.Is(err, errRefused) || !strings.HasPrefix(err.Error(), "follow the relay: ") {
		t.Errorf("it ends with %v", err)
	}
}

var errRefused = errors.New("the relay does not know this token")

type refusing struct{}

func (refusing) Follow(context.Context, func(Hint)) error { return errRefused }
