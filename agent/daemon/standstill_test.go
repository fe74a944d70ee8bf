package daemon

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
)

// A provider that is away, for however many tries, has nobody called; once it is back, all
// pull requests go on as soon as one does.
func TestAnOutageOfTheProviderIsWaitedOut(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	away.Store(true)
	var asked atomic.Int32
	w := start(t, 2, func(r loopback.Asked) (string, error) {
		asked.Add(1)
		if away.Load() {
			return "", &engine.Error{Class: engine.Overloaded, Message: "the provider has no capacity", RetryAfter: time.Hour}
		}
		return crash(r)
	}, func(w *working) { w.open("one"); w.open("two") })
	one, two := forge.Ref{Repo: loopback.Repo, Number: 1}, forge.Ref{Repo: loopback.Repo, Number: 2}
	held := func() int {
		w.daemon.still.mu.Lock()
		defer w.daemon.still.mu.Unlock()
		return len(w.daemon.still.held)
	}
	w.until("both are held up", func() bool { return held() == 2 })
	w.until("it was tried often", func() bool { w.hint(Hint{Repo: one.Repo, Number: one.Number}); return asked.Load() >= 10 })
	for _, ref := range []forge.Ref{one, two} {
		if now := w.Read(loopback.Root, ref); len(now.Labels) > 0 || len(now.Comments) > 0 {
			t.Errorf("%s has labels %q and %d comments", ref, now.Labels, len(now.Comments))
		}
	}
	away.Store(false)
	// A session that crashes is the pull request's own.
	w.until("both go on", func() bool { w.hint(Hint{Repo: one.Repo, Number: one.Number}); return held() == 0 })
	for _, ref := range []forge.Ref{one, two} {
		if n, _ := w.daemon.Agent.Journal.Attempts(ref.String(), w.Read(loopback.Root, ref).Head.SHA, time.Time{}); n != 1 {
			t.Errorf("%s had %d attempts, want the one that crashed", ref, n)
		}
	}
}

// A standstill is told once for what it comes of, however many pull requests it holds up, and
// its owner once when it lasts.
func TestAStandstillIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx := zerolog.New(&log).WithContext(t.Context())
		var s standstill
		rang := 0
		for hour := range 5 {
			for n := range 20 {
				ref := forge.Ref{Repo: loopback.Repo, Number: n + 1}
				failed := engine.Errorf(engine.Overloaded, "claude is overloaded")
				if n%2 == 0 && hour > 0 {
					failed = engine.Errorf(engine.Auth, "log in")
				}
				now, notify := s.holdUp(ctx, ref, failed, make(chan struct{}, 1))
				if notify {
					rang++
					if len(now.Refs) != 20 || now.Why != failed.Message || time.Since(now.Since) != 3*time.Hour {
						t.Errorf("after %d h the owner is told of %+v", hour, now)
					}
				}
			}
			time.Sleep(time.Hour)
		}
		for n := range 20 {
			if waiting, held := s.goesOn(ctx, forge.Ref{Repo: loopback.Repo, Number: n + 1}); !held || len(waiting) != 19-n {
				t.Errorf("%d wait, held %v", len(waiting), held)
			}
		}
		if n := strings.Count(log.String(), `"level":"warn"`); n != 2 || rang != 1 || strings.Count(log.String(), "the standstill is over") != 1 {
			t.Errorf("%d warnings, rang %d times:\n%s", n, rang, log.String())
		}
	})
}

// TestOtherSettingsEndAStandstill checks that corrected settings take effect at once, before the pause ends.
func TestOtherSettingsEndAStandstill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		cfg := config.Default()
		d := &Daemon{Agent: &worker.Agent{Config: func() config.Config {
			if time.Since(begun) > 10*time.Second {
				cfg.Engine.Model = "another"
			}
			return cfg
		}}}
		failed := &engine.Error{Class: engine.UnknownModel, Message: "there is none", RetryAfter: 48 * time.Hour}
		wake := make(chan struct{}, 1)
		if !d.standStill(t.Context(), &trouble{held: true}, forge.Ref{Number: 1}, failed, wake) || time.Since(begun) > 12*time.Second {
			t.Errorf("it waits for %s", time.Since(begun))
		}
		begun = time.Now().Add(-time.Hour)
		if at := time.Now(); !d.standStill(t.Context(), &trouble{held: true}, forge.Ref{Number: 1}, failed, wake) || time.Since(at) != time.Hour {
			t.Errorf("asked to wait for two days it waits for %s", time.Since(at))
		}
	})
}

// The owner is notified of a standstill, and `touchstone status` shows it while it lasts.
func TestTheOwnerHearsOfAStandstill(t *testing.T) {
	t.Parallel()
	var got struct{ Text string }
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
	}))
	defer hook.Close()
	ref := forge.Ref{Repo: loopback.Repo, Number: 1}
	dir := filepath.Join(t.TempDir(), "journal")
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	cfg := config.Default()
	cfg.Notify.SlackWebhook = config.Secret(hook.URL)
	d := &Daemon{Agent: &worker.Agent{Role: decide.Author, Config: config.NewLive(cfg, nil).Config, Journal: log}}
	failed := engine.Errorf(engine.Billing, "the account has no credit left; buy some")
	now, _ := d.still.holdUp(t.Context(), ref, failed, make(chan struct{}, 1))
	d.show(t.Context())
	d.notify(t.Context(), now)
	if !strings.Contains(got.Text, "The author agent on ") || !strings.Contains(got.Text, "buy some") ||
		!strings.Contains(got.Text, "acme/app#1") {
		t.Errorf("it rang %q", got.Text)
	}
	if seen, err := journal.StandstillOf(dir); err != nil || !slices.Equal(seen.Refs, []string{"acme/app#1"}) ||
		!strings.Contains(seen.String(), "buy some (acme/app#1)") {
		t.Errorf("touchstone status shows %v, %v", seen, err)
	}
	d.goesOn(t.Context(), ref)
	if seen, err := journal.StandstillOf(dir); err != nil || len(seen.Refs) > 0 {
		t.Errorf("afterwards it shows %v, %v", seen, err)
	}
}
