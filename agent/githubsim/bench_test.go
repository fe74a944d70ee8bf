package githubsim_test

import (
	"fmt"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
)

// BenchmarkLoop is a whole pull request: repository, branch, pull request,
// approval, squash merge, over HTTP and with real git below.
func BenchmarkLoop(b *testing.B) {
	w := start(b, nil, githubsim.RepoOptions{})
	ctx := b.Context()
	a, r := w.As(author), w.As(reviewer)
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprintf("app%d", i)
		if err := w.CreateRepo(ctx, githubsim.RepoOptions{Owner: "acme", Name: name, Files: map[string]string{"a.txt": "a\n"}}); err != nil {
			b.Fatal(err)
		}
		main := must(a.Git.GetRef(ctx, "acme", name, "heads/main"))(b)
		if main.GetObject().GetSHA() == "" {
			b.Fatal("no main")
		}
		if _, err := w.Commit(ctx, author, "acme/"+name, "feature", "b", map[string]string{"b.txt": "b\n"}); err != nil {
			b.Fatal(err)
		}
		pr := must(a.PullRequests.Create(ctx, "acme", name, &github.NewPullRequest{
			Title: github.String("t"), Head: github.String("feature"), Base: github.String("main"),
		}))(b)
		must(r.PullRequests.CreateReview(ctx, "acme", name, pr.GetNumber(), &github.PullRequestReviewRequest{Event: github.String("APPROVE")}))(b)
		must(a.PullRequests.Merge(ctx, "acme", name, pr.GetNumber(), "", &github.PullRequestOptions{
			SHA: pr.GetHead().GetSHA(), MergeMethod: "squash",
		}))(b)
	}
}
