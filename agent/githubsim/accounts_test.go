package githubsim_test

import (
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

// TestRightsBelongToTheAccount checks that contributions and permissions belong to the account, not to its login.
func TestRightsBelongToTheAccount(t *testing.T) {
	t.Parallel()
	const mannequin = "imported"
	w := start(t, func(cfg *githubsim.Config) {
		cfg.Users = append(cfg.Users, githubsim.User{Login: mannequin, Token: simtest.Token(mannequin), Mannequin: true})
	}, githubsim.RepoOptions{Permissions: map[string]string{author: "write", reviewer: "write", mannequin: "write"}})
	ctx, me := t.Context(), w.As(author)
	w.push(author, "feature", map[string]string{"a.go": "package main\n"})
	pr := must(me.PullRequests.Create(ctx, "acme", "app",
		&github.NewPullRequest{Title: github.String("A"), Head: github.String("feature"), Base: github.String("main")}))(t)
	comment := must(w.As(reviewer).Issues.CreateComment(ctx, "acme", "app", pr.GetNumber(),
		&github.IssueComment{Body: github.String("fine")}))(t)
	id := comment.GetUser().GetID()
	said := func() *github.User {
		return must(me.Issues.ListComments(ctx, "acme", "app", pr.GetNumber(), nil))(t)[0].GetUser()
	}
	may := func(login string) string {
		level, answer, err := me.Repositories.GetPermissionLevel(ctx, "acme", "app", login)
		if err != nil && answer.StatusCode != 404 {
			t.Fatal(err)
		}
		return level.GetPermission()
	}

	fails(t, w.Rename(reviewer, author))
	check(t, w.Rename(reviewer, "hubot-2"))
	check(t, w.AddUser(githubsim.User{Login: reviewer, Token: "another"}))
	fails(t, w.AddUser(githubsim.User{Login: reviewer, Token: "another"}))
	if who := said(); who.GetLogin() != "hubot-2" || who.GetID() != id {
		t.Errorf("the comment is by %s with id %d, want hubot-2 with id %d", who.GetLogin(), who.GetID(), id)
	}
	if old, now := may(reviewer), may("hubot-2"); old != "read" || now != "write" {
		t.Errorf("the old login may %s and the new one %s, want read and write", old, now)
	}
	if now := may(mannequin); now != "read" {
		t.Errorf("a mannequin may %s, want read", now)
	}
	check(t, w.SetPermission(repoName, "hubot-2", "triage"))
	if now := may("hubot-2"); now != "read" { // as this endpoint calls triage
		t.Errorf("it may %s, want read", now)
	}
	check(t, w.Delete("hubot-2"))
	fails(t, w.Delete("hubot-2"))
	if who := said(); who.GetLogin() != "ghost" {
		t.Errorf("the comment is by %s, want ghost", who.GetLogin())
	}
}

// TestWritersEditReviews checks that people with write access may edit other people's reviews.
func TestWritersEditReviews(t *testing.T) {
	t.Parallel()
	w := start(t, nil, githubsim.RepoOptions{Permissions: map[string]string{author: "write", reviewer: "write"}})
	ctx, me := t.Context(), w.As(author)
	w.push(author, "feature", map[string]string{"a.go": "package main\n"})
	pr := must(me.PullRequests.Create(ctx, "acme", "app",
		&github.NewPullRequest{Title: github.String("A"), Head: github.String("feature"), Base: github.String("main")}))(t)
	review := must(w.As(reviewer).PullRequests.CreateReview(ctx, "acme", "app", pr.GetNumber(), &github.PullRequestReviewRequest{
		Event: github.String("REQUEST_CHANGES"), Body: github.String("no"),
	}))(t)
	_, answer, err := w.As(bot).PullRequests.UpdateReview(ctx, "acme", "app", pr.GetNumber(), review.GetID(), "yes")
	if err == nil || answer.StatusCode != 403 {
		t.Errorf("a stranger edits a review: %v", err)
	}
	if edited := must(me.PullRequests.UpdateReview(ctx, "acme", "app", pr.GetNumber(), review.GetID(), "yes"))(t); edited.GetBody() != "yes" {
		t.Errorf("the review says %q, want yes", edited.GetBody())
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fails(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("it worked, and must not")
	}
}

// TestATransferredRepositoryIsFound checks that reading, writing and git find the repository under its old
// name, until another repository takes that name.
func TestATransferredRepositoryIsFound(t *testing.T) {
	t.Parallel()
	w := start(t, nil, githubsim.RepoOptions{})
	ctx, me := t.Context(), w.As(author)
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	check(t, w.Transfer(repoName, "newco", "app"))
	if found := must(me.PullRequests.Get(ctx, "acme", "app", pr.GetNumber()))(t); found.GetID() != pr.GetID() ||
		found.GetBase().GetRepo().GetFullName() != "newco/app" {
		t.Errorf("under the old name there is %d of %s", found.GetID(), found.GetBase().GetRepo().GetFullName())
	}
	must(me.Issues.CreateComment(ctx, "acme", "app", pr.GetNumber(), &github.IssueComment{Body: github.String("still here")}))(t)
	if found := must(me.Issues.ListComments(ctx, "newco", "app", pr.GetNumber(), nil))(t); found[0].GetBody() != "still here" {
		t.Errorf("what was said under the old name is %q", found[0].GetBody())
	}
	w.push(author, "feature", map[string]string{"b.txt": "b\n"})
	check(t, w.CreateRepo(ctx, githubsim.RepoOptions{Owner: "acme", Name: "other", Files: map[string]string{"other.txt": "other\n"}}))
	check(t, w.Transfer("acme/other", "acme", "app"))
	if _, _, err := me.PullRequests.Get(ctx, "acme", "app", pr.GetNumber()); status(err) != 404 {
		t.Errorf("under a name that another repository took: %v", err)
	}
}
