package daemon

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/verdict/decide"
)

// TestASilentReviewerIsMissed: where the reviewing agent is switched off, that is said once
// for each head, without a label that would keep it away when it is back.
func TestASilentReviewerIsMissed(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", fine)
	pr := g.Read(loopback.Author, g.Open("topic"))
	g.Call(loopback.Author, http.MethodPost, "pulls/1/requested_reviewers", map[string]any{"reviewers": []string{loopback.Judge}}, nil)
	var rang atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { rang.Add(1) }))
	defer hook.Close()
	a := agentOf(g, decide.Author, loopback.Author)
	configure(a, func(c *config.Config) { c.Notify.SlackWebhook = config.Secret(hook.URL) })
	waits := func(when string) {
		t.Helper()
		if action := decided(t, g, a, pr); action.Kind != decide.Wait || action.Reason != "this head is not reviewed yet" {
			t.Errorf("%s it comes to %+v", when, action)
		}
	}
	hoursPass := func() {
		a.heads.mu.Lock()
		defer a.heads.mu.Unlock()
		head := a.heads.last[pr.Ref]
		head.awaited = head.awaited.Add(-3 * time.Hour)
		a.heads.last[pr.Ref] = head
	}
	for n := 1; n <= 2; n++ {
		waits("at first")
		hoursPass()
		action := decided(t, g, a, pr)
		if action.Kind != decide.Tell || action.Topic != decide.NoReviewer {
			t.Fatalf("after hours it comes to %+v", action)
		}
		if _, err := a.Act(t.Context(), pr, action); err != nil {
			t.Fatal(err)
		}
		waits("once it is said")
		now := g.Read(loopback.Author, pr.Ref)
		if len(now.Comments) != n || !strings.Contains(now.Comments[n-1].Body,
			" has waited for judge for three hours: this head is not reviewed yet. ") || rang.Load() != int32(n) {
			t.Fatalf("it rang %d times and said %+v", rang.Load(), now.Comments)
		}
		if len(now.Labels) > 0 || decided(t, g, agentOf(g, decide.Reviewer, loopback.Judge), pr).Kind != decide.Review {
			t.Error("the reviewer's agent is kept from it")
		}
		g.Commit("topic", "More", map[string]string{"code.txt": strings.Repeat("fine\n", n+1)})
		pr = g.Read(loopback.Author, pr.Ref)
	}
}
