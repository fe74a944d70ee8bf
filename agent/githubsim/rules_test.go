package githubsim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

func TestReviewRefusals(t *testing.T) {
	inline := func(path string, line, startLine int) []*github.DraftReviewComment {
		c := &github.DraftReviewComment{Path: &path, Line: &line, Side: github.String("RIGHT"), Body: github.String("Hm.")}
		if startLine != 0 {
			c.StartLine = &startLine
		}
		return []*github.DraftReviewComment{{Path: github.String("main.go"), Line: github.Int(1), Body: github.String("good")}, c}
	}
	w := start(t, nil, githubsim.RepoOptions{})
	w.open("feature", map[string]string{"main.go": "package main\n\nfunc main() {\n\tprintln(1)\n}\n"})
	for name, tt := range map[string]struct {
		login, event, body string
		comments           []*github.DraftReviewComment
		says               string
	}{
		"own approval":      {author, "APPROVE", "", nil, "Can not approve your own pull request"},
		"own refusal":       {author, "REQUEST_CHANGES", "b", nil, "Can not request changes on your own pull request"},
		"empty refusal":     {reviewer, "REQUEST_CHANGES", "", nil, "Body is required"},
		"empty comment":     {reviewer, "COMMENT", " ", nil, "Body is required"},
		"unknown event":     {reviewer, "LGTM", "b", nil, "invalid value"},
		"too long":          {reviewer, "COMMENT", strings.Repeat("x", 65_537), nil, "too long"},
		"line not in diff":  {reviewer, "COMMENT", "b", inline("main.go", 99, 0), "Line could not be resolved"},
		"file not in diff":  {reviewer, "COMMENT", "b", inline("README.md", 1, 0), "Path could not be resolved"},
		"start after end":   {reviewer, "COMMENT", "b", inline("main.go", 3, 4), "Start line must precede"},
		"start not in hunk": {reviewer, "COMMENT", "b", inline("main.go", 4, 99), "Start line must precede"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.As(tt.login).PullRequests.CreateReview(t.Context(), "acme", "app", 1, &github.PullRequestReviewRequest{
				Event: &tt.event, Body: &tt.body, Comments: tt.comments,
			})
			if status(err) != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want 422 %q", err, tt.says)
			}
		})
	}
	if left := must(w.As(reviewer).PullRequests.ListReviews(t.Context(), "acme", "app", 1, nil))(t); len(left) != 0 {
		t.Fatalf("refused reviews are there: %v", left)
	}
}

func TestReviewLandsOnTheCommitItNames(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	newer := w.push(author, "feature", map[string]string{"a.txt": "b\n"})
	for _, sha := range []string{pr.GetHead().GetSHA(), ""} {
		rv := must(w.As(reviewer).PullRequests.CreateReview(t.Context(), "acme", "app", 1, &github.PullRequestReviewRequest{
			CommitID: &sha, Event: github.String("COMMENT"), Body: github.String("b"),
		}))(t)
		want := sha
		if sha == "" {
			want = newer
		}
		if rv.GetCommitID() != want {
			t.Fatalf("commit %q became %s, want %s", sha, rv.GetCommitID(), want)
		}
	}
}

func TestListsComeInPages(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	client, ctx := w.As(author), t.Context()
	for i := range 5 {
		must(client.Issues.CreateComment(ctx, "acme", "app", 1, &github.IssueComment{Body: github.String(fmt.Sprint(i))}))(t)
	}
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 2}}
	var bodies string
	for {
		list, resp, err := client.Issues.ListComments(ctx, "acme", "app", 1, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, cm := range list {
			bodies += cm.GetBody()
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	if bodies != "01234" {
		t.Fatalf("pages gave %q", bodies)
	}
}

// Clients find the API at the bare address as well as below /api/v3.
func TestAPIAnswersAtBothBaseAddresses(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	client := github.NewClient(nil).WithAuthToken(simtest.Token(author))
	var err error
	if client.BaseURL, err = client.BaseURL.Parse(w.URL + "/"); err != nil {
		t.Fatal(err)
	}
	if me := must(client.Users.Get(t.Context(), ""))(t); me.GetLogin() != author {
		t.Fatalf("signed in as %s", me.GetLogin())
	}
	req, err := client.NewRequest("POST", "graphql", map[string]string{"query": "{ viewer { login } }"})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Data struct{ Viewer struct{ Login string } }
	}
	if _, err := client.Do(t.Context(), req, &got); err != nil || got.Data.Viewer.Login != author {
		t.Fatalf("viewer %q, %v", got.Data.Viewer.Login, err)
	}
}

func TestRightsAreThoseOfTheRole(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Private: true, Permissions: map[string]string{author: "write", bot: "read"}})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	ctx := t.Context()
	anonymous, err := github.NewClient(nil).WithAuthToken("wrong").WithEnterpriseURLs(w.URL, w.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"a wrong token":      {second(anonymous.Users.Get(ctx, "")), 401},
		"an outsider":        {second(w.As(reviewer).Repositories.Get(ctx, "acme", "app")), 404},
		"labels as a reader": {second(w.As(bot).Issues.AddLabelsToIssue(ctx, "acme", "app", 1, []string{"x"})), 403},
		"check runs without app": {second(w.As(author).Checks.CreateCheckRun(ctx, "acme", "app",
			github.CreateCheckRunOptions{Name: "x", HeadSHA: "main"})), 403},
		"no such pull request": {second(w.As(author).PullRequests.Get(ctx, "acme", "app", 99)), 404},
		"review asked of oneself": {second(w.As(author).PullRequests.RequestReviewers(ctx, "acme", "app", 1,
			github.ReviewersRequest{Reviewers: []string{author}})), 422},
		"a second pull request": {second(w.As(author).PullRequests.Create(ctx, "acme", "app",
			&github.NewPullRequest{Title: github.String("t"), Head: github.String("feature"), Base: github.String("main")})), 422},
		"a pull request of itself": {second(w.As(author).PullRequests.Create(ctx, "acme", "app",
			&github.NewPullRequest{Title: github.String("t"), Head: github.String("main"), Base: github.String("main")})), 422},
	} {
		if status(tt.err) != tt.want {
			t.Errorf("%s: %v, want %d", name, tt.err, tt.want)
		}
	}
}

func second[V any](_ V, _ *github.Response, err error) error { return err }
