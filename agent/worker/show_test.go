package worker

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func TestAPullRequestShowsWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "code\n"})
	ref := g.Open("topic")
	g.Call(loopback.Author, http.MethodPost, fmt.Sprintf("pulls/%d/requested_reviewers", ref.Number),
		map[string]any{"reviewers": []string{loopback.Judge}}, nil)
	var writes atomic.Int32
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/statuses/") {
			writes.Add(1)
		}
		return githubsim.Fault{}
	})
	judge, author := agentOf(g, decide.Reviewer, loopback.Judge), agentOf(g, decide.Author, loopback.Author)
	show := func(a *Agent) decide.Action {
		t.Helper()
		g.Read(loopback.Root, ref) // settles
		pr, action, err := a.Look(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		a.Show(t.Context(), pr, action)
		return action
	}
	shows := func(writer, want string, written int32) {
		t.Helper()
		var all []string
		for _, s := range g.Read(loopback.Root, ref).Statuses {
			all = append(all, fmt.Sprintf("%s %s %s: %s", s.By.Login, s.Name, s.State, s.Summary))
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, want) || writes.Load() != written {
			t.Errorf("after %s, %d writes:\n%s\nwant %d and %q", writer, writes.Load(), text, written, want)
		}
	}
	show(judge)
	shows("the reviewer's agent", "judge touchstone/review pending: reviewing, round 1", 1)
	show(judge)
	show(agentOf(g, decide.Reviewer, loopback.Judge)) // after a start
	shows("the same again", "judge touchstone/review pending: reviewing, round 1", 1)
	show(author)
	shows("the author's agent", "alice touchstone/fix pending: waiting for @judge: this head is not reviewed yet", 2)

	// A success that is none is taken back, and not for ever.
	post := func() {
		g.Call(loopback.Person, http.MethodPost, "statuses/"+g.Read(loopback.Root, ref).Head.SHA,
			map[string]string{"context": forge.ReviewContext, "state": "success", "description": "mine"}, nil)
		show(judge)
	}
	post()
	shows("a success that is none", "judge touchstone/review pending: reviewing, round 1", 4)
	for range maxTakenBack {
		post()
	}
	const so = 2 + (1 + maxTakenBack) + maxTakenBack // those of before, those posted by hand, and the answers
	shows("too many of them", "walter touchstone/review success: mine", so)

	pr := g.Reviewed(ref, verdict.Approve)
	show(judge)
	shows("an approval", "judge touchstone/review success: approved, round", so+1)
	for _, s := range g.Read(loopback.Root, ref).Statuses {
		if s.Name == forge.ReviewContext && s.URL != pr.Reviews[0].URL {
			t.Errorf("it links to %s", s.URL)
		}
	}

	// What others report under that name is not fought, but for a success that is none.
	g.Call(loopback.Person, http.MethodPost, "statuses/"+pr.Head.SHA,
		map[string]string{"context": forge.ReviewContext, "state": "failure", "description": "mine"}, nil)
	show(judge)
	shows("somebody else", "walter touchstone/review failure: mine", so+2)

	if err := g.Sim.SetPermission(loopback.Repo.String(), loopback.Author, "triage"); err != nil {
		t.Fatal(err)
	}
	g.Call(loopback.Author, http.MethodPost, fmt.Sprintf("issues/%d/labels", ref.Number), map[string]any{"labels": []string{"needs-human"}},
		nil)
	if action := show(author); action.Kind != decide.Wait || action.Status.Text != "waiting for a person" {
		t.Errorf("without the right to write statuses it comes to %+v", action)
	}
}

// A status leads to the pull request's page on the relay where others can reach that, and else to the review.
func TestTheStatusLeadsToTheRelaysPage(t *testing.T) {
	t.Parallel()
	const review, page = "https://github.test/acme/app/pull/7#pullrequestreview-3", "https://relay.test/pulls/acme/app/7"
	pr := forge.PullRequest{
		Ref: forge.Ref{Repo: forge.Repo{Owner: "acme", Name: "app"}, Number: 7}, URL: "https://github.test/acme/app/pull/7",
		Reviews: []forge.SubmittedReview{{ID: 3, URL: review}},
	}
	for relay, want := range map[string]string{
		"": review, "http://127.0.0.1:8080": review, "https://relay.test": page, "https://relay.test/": page,
		"https://relay.test/behind": "https://relay.test/behind/pulls/acme/app/7",
	} {
		cfg := config.Default()
		cfg.Relay.URL = relay
		a := &Agent{Role: decide.Reviewer, Config: config.NewLive(cfg, nil).Config}
		action := decide.Action{Status: decide.Status{Signal: decide.Failure, Text: "changes requested, round 1", Review: 3}}
		if got := a.status(pr, action).URL; got != want {
			t.Errorf("with the relay %q it leads to %s, want %s", relay, got, want)
		}
	}
}

func TestAHeadIsNotWrittenFullOfStatuses(t *testing.T) {
	t.Parallel()
	var s statuses
	pr := forge.PullRequest{Ref: ref}
	pr.Head.SHA = "abc"
	written := 0
	for n := range 10 * maxShown {
		if s.changes(pr, forge.CommitStatus{Context: forge.FixContext, State: forge.CheckPending, Description: fmt.Sprint(n)}, nil, time.Now()) {
			written++
		}
	}
	if written != maxShown {
		t.Errorf("%d statuses of one head", written)
	}
}
