package forge_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestWhoseReviewCounts(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Permissions: map[string]string{octocat: "write", hubot: "maintain", ci: "write", guest: "triage"}})
	ref, sha := w.open("topic")
	for _, login := range []string{hubot, guest, ci} {
		if _, err := forge.NewPoster(w.as(login)).PostReview(t.Context(), ref,
			forge.Review{SHA: sha, Event: forge.Approve, Body: "Good."}); err != nil {
			t.Fatal(err)
		}
		if _, err := forge.NewSpeaker(w.as(login)).Comment(t.Context(), ref, "Good."); err != nil {
			t.Fatal(err)
		}
	}
	pr := w.read(ref)
	for i, want := range []struct{ person, push bool }{{true, true}, {true, false}, {false, true}} {
		if r := pr.Reviews[i]; r.ByPerson != want.person || r.CanPush != want.push {
			t.Errorf("the review of %+v: by a person %t, who can push %t; want %+v", r.Author, r.ByPerson, r.CanPush, want)
		}
		if c := pr.Comments[i]; c.ByPerson != want.person {
			t.Errorf("the comment of %+v: by a person %t", c.Author, c.ByPerson)
		}
	}
}

func TestPermissionsAreToldToThoseWhoMayPush(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Private: true, Permissions: map[string]string{octocat: "write", hubot: "maintain", guest: "triage"}})
	for login, want := range map[string]struct {
		permission        forge.Permission
		writes, maintains bool
	}{
		octocat: {"write", true, false}, hubot: {"maintain", true, true}, guest: {"triage", false, false},
		ci: {"none", false, false}, "acme": {forge.Unseen, false, false},
	} {
		p, err := w.as(octocat).Permission(t.Context(), app, login)
		if p != want.permission || p.CanWrite() != want.writes || p.Includes("maintain") != want.maintains || err != nil {
			t.Errorf("%s may %q, %v; want %+v", login, p, err, want)
		}
		if p, err := w.as(guest).Permission(t.Context(), app, login); p != forge.Unseen || p.Includes("write") || err != nil {
			t.Errorf("who may not push sees that %s may %q, %v", login, p, err)
		}
	}
}

// answer replies to an inline comment, as its page does.
func (w *world) answer(ref forge.Ref, comment int64, body string) {
	w.t.Helper()
	client := w.As(octocat)
	req, err := client.NewRequest("POST", fmt.Sprintf("repos/%s/pulls/%d/comments/%d/replies", app, ref.Number, comment),
		map[string]string{"body": body})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := client.Do(w.t.Context(), req, nil); err != nil {
		w.t.Fatal(err)
	}
}

func TestThreadsAreReadAndResolved(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Permissions: map[string]string{octocat: "write", hubot: "write"}})
	ref, sha := w.open("topic")
	_, err := w.post(ref, sha, forge.RequestChanges, "Not yet.",
		forge.ReviewComment{Path: "topic.go", Line: 4, Body: "Why 1?"}, forge.ReviewComment{Path: "topic.go", Line: 5, Body: "Why 2?"})
	if err != nil {
		t.Fatal(err)
	}
	remarks, _, err := w.As(octocat).PullRequests.ListComments(t.Context(), app.Owner, app.Name, ref.Number, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.answer(ref, remarks[0].GetID(), "Because.")
	before := w.read(ref).Threads
	if len(before) != 2 || before[0].Resolved || before[0].ResolvedBy != (forge.User{}) {
		t.Fatalf("threads %+v; want two open ones", before)
	}
	first := before[0]
	if len(first.Comments) != 2 || len(before[1].Comments) != 1 {
		t.Errorf("the first thread is %+v", first)
	}
	if c := first.Comments[0]; c.Body != "Why 1?" || c.Author.Login != hubot || c.ID != remarks[0].GetID() ||
		c.URL == "" || c.CreatedAt.IsZero() || c.EditedAt != nil {
		t.Errorf("it was begun by %+v", c)
	}
	if c := first.Comments[1]; c.Body != "Because." || c.Author.Login != octocat {
		t.Errorf("the answer is %+v", c)
	}

	if err := forge.NewResolver(w.as(guest)).ResolveThread(t.Context(), app, first.ID); !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("resolved by a guest: %v", err)
	}
	for range 2 {
		if err := forge.NewResolver(w.as(hubot)).ResolveThread(t.Context(), app, first.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := forge.NewResolver(w.as(hubot)).ResolveThread(t.Context(), app, "PRRT_0"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("resolving what is not there: %v", err)
	}
	w.commit("topic", map[string]string{"topic.go": "package main\n"})
	w.Settle()
	after := w.read(ref).Threads
	if !after[0].Resolved || after[0].ResolvedBy.Login != hubot || after[1].Resolved {
		t.Errorf("after resolving the first: %+v", after)
	}
}

func TestLinkedIssues(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	issue, _, err := w.As(hubot).Issues.Create(t.Context(), app.Owner, app.Name, &github.IssueRequest{
		Title: github.String("It crashes"), Body: github.String("When started."), Labels: &[]string{"bug"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := w.open("topic")
	if got := w.read(ref).Issues; len(got) != 0 {
		t.Errorf("issues %+v of a pull request that closes none", got)
	}
	if _, _, err := w.As(octocat).PullRequests.Edit(t.Context(), app.Owner, app.Name, ref.Number,
		&github.PullRequest{Body: github.String("Fixes #1, closes #99.")}); err != nil {
		t.Fatal(err)
	}
	got := w.read(ref).Issues
	if len(got) != 1 || got[0].Number != issue.GetNumber() || got[0].Title != "It crashes" ||
		got[0].Body != "When started." ||
		len(got[0].Labels) != 1 || got[0].Labels[0] != "bug" {
		t.Errorf("issues %+v", got)
	}
}

func TestLongThreadsAreReadWhole(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, sha := w.open("topic")
	if _, err := w.post(ref, sha, forge.RequestChanges, "One thing.", forge.ReviewComment{Path: "topic.go", Line: 4, Body: "0"}); err != nil {
		t.Fatal(err)
	}
	remarks, _, err := w.As(octocat).PullRequests.ListComments(t.Context(), app.Owner, app.Name, ref.Number, nil)
	if err != nil {
		t.Fatal(err)
	}
	const all = 230
	for i := 1; i < all; i++ {
		w.answer(ref, remarks[0].GetID(), fmt.Sprint(i))
	}
	threads := w.read(ref).Threads
	if len(threads) != 1 || len(threads[0].Comments) != all {
		t.Fatalf("%d threads, %d comments in the first", len(threads), len(threads[0].Comments))
	}
	for i, c := range threads[0].Comments {
		if c.Body != fmt.Sprint(i) {
			t.Fatalf("comment %d says %q", i, c.Body)
		}
	}
}

func TestWhatOthersMadeOfAComment(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, _ := w.open("topic")
	var ids []int64
	for _, body := range []string{"mine", "changed", "gone"} {
		comment, _, err := w.As(octocat).Issues.CreateComment(t.Context(), app.Owner, app.Name, ref.Number,
			&github.IssueComment{Body: github.String(body)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, comment.GetID())
	}
	edit := func(login string, id int64, body string) {
		if _, _, err := w.As(login).Issues.EditComment(t.Context(), app.Owner, app.Name, id, &github.IssueComment{Body: &body}); err != nil {
			t.Fatal(err)
		}
	}
	edit(octocat, ids[0], "mine still")
	edit(hubot, ids[1], "other")
	if _, err := w.As(hubot).Issues.DeleteComment(t.Context(), app.Owner, app.Name, ids[2]); err != nil {
		t.Fatal(err)
	}
	pr := w.read(ref)
	if len(pr.Comments) != 2 || pr.Comments[0].EditedByAnother() || !pr.Comments[1].EditedByAnother() ||
		pr.Comments[1].EditedBy.Login != hubot {
		t.Errorf("the comments are %+v", pr.Comments)
	}
	if len(pr.Deleted) != 1 || pr.Deleted[0].By.Login != hubot || pr.Deleted[0].Author.Login != octocat || !pr.Deleted[0].ByPerson ||
		pr.Deleted[0].At.IsZero() {
		t.Errorf("deleted are %+v", pr.Deleted)
	}
	revisions, err := w.as(octocat).Revisions(t.Context(), app, pr.Comments[1].Node)
	if err != nil || len(revisions) != 2 || revisions[0].Text != "other" || revisions[0].By.Login != hubot ||
		revisions[1].Text != "changed" || revisions[1].By.Login != octocat {
		t.Errorf("the revisions are %+v, %v", revisions, err)
	}
}
