package githubsim_test

import (
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
)

// TestAClockSetForwardShowsInEventsAndAnswers checks that after GitHub's clock was set forward, later events get the later time, and each
// response shows it.
func TestAClockSetForwardShowsInEventsAndAnswers(t *testing.T) {
	t.Parallel()
	w := start(t, nil, githubsim.RepoOptions{})
	ctx, me := t.Context(), w.As(author)
	w.push(author, "feature", map[string]string{"a.go": "package main\n"})
	pr := must(me.PullRequests.Create(ctx, "acme", "app",
		&github.NewPullRequest{Title: github.String("A"), Head: github.String("feature"), Base: github.String("main")}))(t)
	w.Advance(time.Hour)
	comment, answer, err := me.Issues.CreateComment(ctx, "acme", "app", pr.GetNumber(), &github.IssueComment{Body: github.String("later")})
	if err != nil {
		t.Fatal(err)
	}
	told, err := time.Parse(time.RFC1123, answer.Header.Get("Date"))
	if err != nil {
		t.Fatal(err)
	}
	for what, at := range map[string]time.Time{"the comment": comment.GetCreatedAt().Time, "the answer": told} {
		if later := at.Sub(pr.GetCreatedAt().Time); later < time.Hour || later > 2*time.Hour {
			t.Errorf("%s is %s later than the pull request, want an hour", what, later)
		}
	}
}
