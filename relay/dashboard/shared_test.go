package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlite"
)

// logAlone is a relay that only has to answer for its log.
type logAlone struct {
	Relay
	log *hub.Hub
}

// Head implements Relay.
func (r logAlone) Head() event.Cursor {
	bounds := r.log.Bounds()
	return event.Cursor{Log: bounds.Log, Seq: bounds.Head}
}

// overLog returns a dashboard over a log, and a function that appends an event to it.
func overLog(t *testing.T) (*Dashboard, func()) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := hub.New(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := projection.Open(t.Context(), projection.Config{Path: filepath.Join(t.TempDir(), "page.db"), Log: log, Store: store,
		Reviewers: []string{"judge"}, GitHub: []string{"github"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- log.Run(ctx) }()
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-done, <-done, p.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	n := 0
	return New(Config{Projection: p, Relay: logAlone{log: log}}), func() {
		t.Helper()
		n++
		e := event.Event{Source: "github", Delivery: fmt.Sprint(n), Type: "push", Repo: "acme/app", ReceivedAt: time.Now().UTC(),
			Payload: []byte("{}")}
		if _, _, err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		p.Await(t.Context())
	}
}

// However many pages request the same content at once, it is rendered once for each scope and address, again
// after each change, and again when it is old.
func TestOpenPagesShareOneRendering(t *testing.T) {
	d, happen := overLog(t)
	now := time.Now()
	d.now = func() time.Time { return now }
	var written atomic.Int64
	page := d.share(func(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
		written.Add(1)
		if viewer.Name != "" || viewer.Admin {
			t.Error("what is for all knows who asks")
		}
		send(w, r, http.StatusOK, "text/html", fmt.Appendf(nil, "%s %s %d", r.URL, viewer.Scope.Repos, d.config.Projection.At()))
		return nil
	})
	var logins []string
	ask := func(address, repo, asOf string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, address, nil)
		r.Header.Set("HX-Request", "true")
		r.Header.Set(asOfHeader, asOf)
		w := httptest.NewRecorder()
		d.respond(w, r, Viewer{Token: "a", Name: "laptop", Admin: true, Scope: event.Filter{Repos: []string{repo}}, logins: logins}, page)
		least := d.config.Relay.Head().Seq
		if at, err := event.ParseCursor(asOf); err == nil {
			least = at.Seq
		}
		var at int64
		if _, err := fmt.Sscanf(w.Body.String(), address+" ["+repo+"] %d", &at); err != nil || at < least {
			t.Errorf("asked for %s of %s as of %s: %s %q", address, repo, asOf, w.Result().Status, w.Body)
		}
	}
	step := func(what string, want int64, requests func()) {
		t.Helper()
		before := written.Load()
		if requests(); written.Load()-before != want {
			t.Errorf("%s: written %d times, want %d", what, written.Load()-before, want)
		}
	}
	happen()
	first := d.config.Projection.Cursor()
	step("200 at once", 1, func() {
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() { ask("/", "acme/*", first) })
		}
		group.Wait()
	})
	step("another scope and another address", 2, func() { ask("/", "acme/app", first); ask("/?turn=ci", "acme/*", first) })
	step("two people with agents of their own", 1, func() {
		for _, login := range []string{"alice", "bob", "bob"} {
			logins = []string{login}
			ask("/?author=bob", "acme/*", first)
		}
	})
	step("what is theirs", 2, func() {
		for _, login := range []string{"alice", "bob", "bob"} {
			logins = []string{login}
			ask("/?author=@me", "acme/*", first)
		}
		logins = nil
	})
	happen()
	step("as of a change that all of them were told of before", 0, func() { ask("/", "acme/*", first) })
	step("as of the next change", 1, func() { ask("/", "acme/*", d.config.Projection.Cursor()); ask("/", "acme/*", first) })
	happen()
	step("as of no change that this log knows", 1, func() { ask("/", "acme/*", "otherlog-1"); ask("/", "acme/*", "") })
	now = now.Add(sharedLife)
	step("a second later", 1, func() { ask("/", "acme/*", first) })
}
