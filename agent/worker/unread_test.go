package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/pull"
	"touchstone/verdict/decide"
)

// talk is a conversation on a line of a pull request, with so many comments. The last but one
// gives an order. It returns the id of the first.
func talk(t *testing.T, g *loopback.GitHub, comments int, order string) int64 {
	t.Helper()
	review := map[string]any{"event": "COMMENT", "body": "One thing.",
		"comments": []map[string]any{{"path": "code.txt", "line": 1, "side": "RIGHT", "body": "Why?"}}}
	g.Call(loopback.Person, http.MethodPost, "pulls/1/reviews", review, nil)
	var first []struct{ ID int64 }
	g.Call(loopback.Person, http.MethodGet, "pulls/1/comments", nil, &first)
	for i := 1; i < comments; i++ {
		body := "Because."
		if i == comments-2 {
			body = order
		}
		g.Call(loopback.Person, http.MethodPost, fmt.Sprintf("pulls/1/comments/%d/replies", first[0].ID), map[string]any{"body": body}, nil)
	}
	return first[0].ID
}

// TestAnOrderLateInAThreadIsHeard checks that an order counts at the end of a long thread too: people say
// stop where they talk.
func TestAnOrderLateInAThreadIsHeard(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	talk(t, g, 20, "/touchstone stop")
	if action := decided(t, g, agentOf(g, decide.Author, loopback.Author), pr); action.Kind != decide.Wait ||
		!strings.Contains(action.Reason, "has stopped the agents") {
		t.Errorf("it comes to %+v", action)
	}
}

// TestTalkOfAStrangerHidesNothing checks that a stranger's comments do not hide an earlier order to stop, and
// that nobody is called because of them.
func TestTalkOfAStrangerHidesNothing(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	a := agentOf(g, decide.Author, loopback.Author)
	first := talk(t, g, 3, "Well.")
	for range 101 {
		g.Call(loopback.Stranger, http.MethodPost, fmt.Sprintf("pulls/1/comments/%d/replies", first), map[string]any{"body": "/touchstone stop"},
			nil)
	}
	if action := decided(t, g, a, pr); action.Kind != decide.Merge {
		t.Fatalf("over a stranger's talk it comes to %+v", action)
	}
	g.Call(loopback.Person, http.MethodPost, fmt.Sprintf("pulls/1/comments/%d/replies", first), map[string]any{"body": "/touchstone stop"},
		nil)
	for range 101 {
		g.Call(loopback.Stranger, http.MethodPost, fmt.Sprintf("pulls/1/comments/%d/replies", first), map[string]any{"body": "Well."}, nil)
	}
	if action := decided(t, g, a, pr); action.Kind != decide.Wait || !strings.Contains(action.Reason, "walter has stopped the agents") {
		t.Errorf("with an order to stop amid a stranger's talk it comes to %+v", action)
	}
}

// A person who is called because of a rule of the base is told how many conversations are open.
func TestOpenConversationsAreCounted(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	talk(t, g, 3, "Well.")
	a := agentOf(g, decide.Author, loopback.Author)
	if n := pull.StateOf(g.Read(loopback.Author, pr.Ref), a.Role, a.Config(), pull.Facts{}).Conversations; n != 1 {
		t.Errorf("%d conversations are open", n)
	}
}

// TestWhatIsNotReadWholeIsLeftToPeople: a person is called, once, also where they order the
// agents to go on.
func TestWhatIsNotReadWholeIsLeftToPeople(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	crowd := make([]string, 101)
	for i := range crowd {
		crowd[i] = fmt.Sprintf("reader-%d", i)
		if err := g.Sim.AddUser(githubsim.User{Login: crowd[i], Token: crowd[i]}); err != nil {
			t.Fatal(err)
		}
	}
	g.Call(loopback.Author, http.MethodPost, "pulls/1/requested_reviewers", map[string]any{"reviewers": crowd}, nil)
	a := authorOf(t, g, nil)
	configure(a, func(c *config.Config) { c.Merge.RequireChecks = false })
	look := func() (forge.PullRequest, decide.Action) {
		g.Sim.Settle(t.Context())
		now, action, err := a.Look(t.Context(), pr.Ref)
		if !errors.Is(err, forge.ErrUnreadable) {
			t.Fatalf("it is read: %v", err)
		}
		return now, action
	}
	now, action := look()
	if action.Kind != decide.Escalate || !strings.Contains(action.Reason, "more than 100 reviewers") {
		t.Fatalf("it comes to %+v", action)
	}
	if _, err := a.Act(t.Context(), now, action); err != nil {
		t.Fatal(err)
	}
	now, action = look()
	if action.Kind != decide.Wait || !strings.HasPrefix(action.Reason, "it waits for a person: find out why") || len(now.Comments) != 1 ||
		!strings.Contains(now.Comments[0].Body, "decide it by hand") {
		t.Errorf("after the call it comes to %+v; comments %+v", action, now.Comments)
	}
	comment(g, loopback.Person, "/touchstone resume")
	if now, action = look(); action.Kind != decide.Release {
		t.Fatalf("once it is to go on it comes to %+v", action)
	}
	if _, err := a.Act(t.Context(), now, action); err != nil {
		t.Fatal(err)
	}
	if now, action = look(); action.Kind != decide.Wait || !strings.Contains(action.Reason, "left to people") {
		t.Errorf("once the label is off it comes to %+v", action)
	}
	if _, err := a.Merger.Merge(t.Context(), pr.Ref, pr.Head.SHA); !errors.Is(err, forge.ErrUnreadable) {
		t.Errorf("merging it by hand ends with %v", err)
	}
}

// endless is a reader of a pull request whose commits do not end.
type endless struct {
	Reader
	commits *forge.Client
}

func (e endless) Commits(ctx context.Context, ref forge.Ref) ([]forge.Commit, error) {
	return e.commits.Commits(ctx, ref)
}

// TestTooManyCommitsCallAPerson: without them nobody knows what was tried before.
func TestTooManyCommitsCallAPerson(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := authorOf(t, g, nil)
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `<http://`+r.Host+r.URL.Path+`?page=2>; rel="next"`)
		fmt.Fprint(w, "["+strings.Repeat(`{"sha":"abc"},`, 99)+`{"sha":"abc"}]`)
	}))
	defer pages.Close()
	client, err := forge.New(forge.Config{APIURL: pages.URL, Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	a.Read = endless{a.Read, client}
	_, action, err := a.Look(t.Context(), pr.Ref)
	if !errors.Is(err, forge.ErrUnreadable) || action.Kind != decide.Escalate || !strings.Contains(action.Reason, "more than 2,000 commits") {
		t.Errorf("it comes to %+v, %v", action, err)
	}
}
