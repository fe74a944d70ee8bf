package worker

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

// TestWhatOnlyTheAuthorCanEditIsToldFirst: the first words say what to do.
func TestWhatOnlyTheAuthorCanEditIsToldFirst(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := authorOf(t, g, unneeded(t))
	step, err := a.Act(t.Context(), pr, decide.Action{Kind: decide.Tell, SHA: pr.Head.SHA, Topic: decide.Texts,
		Reason: "edit the description, which is all that blocks it (finding 0a1b2c3d): Nothing says why; ask @octocat"})
	if err != nil || step.Paid {
		t.Fatalf("it ends in %+v, %v", step, err)
	}
	said := g.Read(loopback.Author, pr.Ref)
	if len(said.Comments) != 1 || !strings.HasPrefix(said.Comments[0].Body, "Edit the description, which is all that blocks it (finding ") ||
		!strings.Contains(said.Comments[0].Body, "Nothing says why; ask @&#8203;octocat. It is reviewed again once that is done") ||
		len(stateOf(t, a, said).Notices) != 1 || len(said.Labels) > 0 {
		t.Errorf("it says %+v", said.Comments)
	}
}
