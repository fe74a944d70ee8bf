package githubsim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

// must fails the test unless err is nil, and returns the rest.
func must[V any](v V, _ *github.Response, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// succeeds fails the test unless a call without a value has succeeded.
func succeeds(t testing.TB) func(*github.Response, error) {
	return func(_ *github.Response, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// status is the HTTP status of an error from go-github, 0 for none.
func status(err error) int {
	var resp *github.ErrorResponse
	if errors.As(err, &resp) {
		return resp.Response.StatusCode
	}
	return 0
}

// TestEverythingKeepsTheContract makes each kind of request once. The gate
// validates every request, answer and webhook.
func TestEverythingKeepsTheContract(t *testing.T) {
	w := start(t, ciThat("success"), githubsim.RepoOptions{Protected: map[string]githubsim.Protection{
		"main": {RequiredChecks: []string{githubsim.CIName}, Approvals: 1},
	}})
	inbox := w.listen("json", "*")
	pr := w.open("feature", map[string]string{"main.go": "package main\n\nfunc main() {\n\tprintln(1)\n}\n", "dir.txt": "x\n"})
	w.repositorySurface(pr)
	w.pullSurface(pr.GetNumber())
	w.reviewSurface(pr.GetNumber())
	w.issueSurface(pr.GetNumber())
	w.checkSurface(pr.GetHead().GetSHA())
	w.mergeSurface(pr.GetNumber())
	w.hookSurface()
	w.orgHookSurface()
	w.Settle()

	kinds := inbox.kinds()
	for _, want := range []string{
		"ping", "push", "pull_request/opened", "pull_request/edited", "pull_request/review_requested", "pull_request/review_request_removed",
		"pull_request_review/submitted", "pull_request_review/dismissed", "pull_request_review/edited", "pull_request_review_comment/created",
		"issue_comment/created",
		"pull_request_review_thread/resolved", "pull_request_review_thread/unresolved", "issues/opened",
		"issue_comment/edited", "issue_comment/deleted", "pull_request/labeled", "pull_request/unlabeled", "check_suite/requested",
		"check_run/created", "check_run/completed", "check_suite/completed", "status", "pull_request/closed",
	} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no webhook %s among %v", want, kinds)
		}
	}
}

// repositorySurface asks for users, the repository, its refs and its files.
func (w *world) repositorySurface(pr *github.PullRequest) {
	t, ctx, me := w.t, w.t.Context(), w.As(author)
	must(me.Users.Get(ctx, ""))(t)
	must(me.Users.Get(ctx, reviewer))(t)
	must(me.Repositories.Get(ctx, "acme", "app"))(t)
	must(me.Repositories.GetPermissionLevel(ctx, "acme", "app", reviewer))(t)
	must(me.Repositories.GetBranch(ctx, "acme", "app", "main", 0))(t)
	must(me.Repositories.GetCommit(ctx, "acme", "app", "main", nil))(t)
	must(me.Git.GetRef(ctx, "acme", "app", "heads/feature"))(t)
	moves, err := me.NewRequest(http.MethodGet, "repos/acme/app/activity?ref=refs/heads/feature", nil)
	if err != nil {
		t.Fatal(err)
	}
	var moved []struct{ After string }
	if _, err := me.Do(ctx, moves, &moved); err != nil || len(moved) != 1 || moved[0].After != pr.GetHead().GetSHA() {
		t.Errorf("the branch's activity is %+v, %v", moved, err)
	}
	must(me.Git.GetCommit(ctx, "acme", "app", pr.GetHead().GetSHA()))(t)
	must(me.Repositories.CompareCommits(ctx, "acme", "app", "main", "feature", nil))(t)
	ref := &github.Reference{Ref: github.String("refs/heads/feature"), Object: &github.GitObject{SHA: pr.GetBase().SHA}}
	if _, _, err := me.Git.UpdateRef(ctx, "acme", "app", ref, false); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("moved back without force: %v", err)
	}
	must(me.Git.UpdateRef(ctx, "acme", "app", &github.Reference{Ref: ref.Ref, Object: &github.GitObject{SHA: pr.GetHead().SHA}}, true))(t)
	file, _, _, err := me.Repositories.GetContents(ctx, "acme", "app", "main.go", &github.RepositoryContentGetOptions{Ref: "feature"})
	if text, _ := file.GetContent(); err != nil || !strings.Contains(text, "println") {
		t.Fatalf("contents %q, %v", text, err)
	}
	if _, entries, _, err := me.Repositories.GetContents(ctx, "acme", "app", "", nil); err != nil || len(entries) != 2 {
		t.Fatalf("directory %v, %v", entries, err)
	}
}

// pullSurface reads and edits a pull request.
func (w *world) pullSurface(n int) {
	t, ctx, me := w.t, w.t.Context(), w.As(author)
	must(me.PullRequests.List(ctx, "acme", "app", nil))(t)
	if files := must(me.PullRequests.ListFiles(ctx, "acme", "app", n, nil))(t); len(files) != 2 || files[1].GetPatch() == "" {
		t.Fatalf("files %v", files)
	}
	must(me.PullRequests.ListCommits(ctx, "acme", "app", n, nil))(t)
	must(me.PullRequests.Edit(ctx, "acme", "app", n, &github.PullRequest{Title: github.String("Better")}))(t)
	must(me.PullRequests.RequestReviewers(ctx, "acme", "app", n, github.ReviewersRequest{Reviewers: []string{reviewer, "admin"}}))(t)
	succeeds(t)(me.PullRequests.RemoveReviewers(ctx, "acme", "app", n, github.ReviewersRequest{Reviewers: []string{"admin"}}))
}

// reviewSurface reviews, dismisses, begins another review, and approves.
func (w *world) reviewSurface(n int) {
	t, ctx, me := w.t, w.t.Context(), w.As(author)
	other := w.As(reviewer)
	review := must(other.PullRequests.CreateReview(ctx, "acme", "app", n, &github.PullRequestReviewRequest{
		Event: github.String("REQUEST_CHANGES"), Body: github.String("No."),
		Comments: []*github.DraftReviewComment{{Path: github.String("main.go"), Line: github.Int(4), Side: github.String("RIGHT"),
			Body: github.String("Why?")}},
	}))(t)
	must(me.PullRequests.GetReview(ctx, "acme", "app", n, review.GetID()))(t)
	if inline := must(me.PullRequests.ListReviewComments(ctx, "acme", "app", n, review.GetID(), nil))(t); len(inline) != 1 ||
		inline[0].GetLine() != 4 {
		t.Fatalf("review comments %v", inline)
	}
	comments := must(me.PullRequests.ListComments(ctx, "acme", "app", n, nil))(t)
	w.send("POST", author, fmt.Sprintf("repos/acme/app/pulls/%d/comments/%d/replies", n, comments[0].GetID()), `{"body":"Because."}`)
	w.resolveThread(n)
	must(me.PullRequests.DismissReview(ctx, "acme", "app", n, review.GetID(),
		&github.PullRequestReviewDismissalRequest{Message: github.String("fixed")}))(t)
	w.send("PUT", reviewer, fmt.Sprintf("repos/acme/app/pulls/%d/reviews/%d", n, review.GetID()), `{"body":"No, and this is why."}`)
	must(other.PullRequests.CreateReview(ctx, "acme", "app", n, &github.PullRequestReviewRequest{Body: github.String("later")}))(t)
	if seen := must(me.PullRequests.ListReviews(ctx, "acme", "app", n, nil))(t); len(seen) != 2 {
		t.Fatalf("the author sees %d reviews, of three one is pending", len(seen))
	}
	must(other.PullRequests.CreateReview(ctx, "acme", "app", n, &github.PullRequestReviewRequest{Event: github.String("APPROVE")}))(t)
}

// send makes a request that go-github does not make, or makes differently.
func (w *world) send(method, login, path, body string) {
	w.t.Helper()
	client := w.As(login)
	req, err := client.NewRequest(method, path, json.RawMessage(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := client.Do(w.t.Context(), req, nil); err != nil {
		w.t.Fatal(err)
	}
}

// resolveThread resolves the only thread, twice, and opens it again.
func (w *world) resolveThread(n int) {
	w.t.Helper()
	const threads = `query($number: Int!) { repository(owner: "acme", name: "app") { pullRequest(number: $number) { reviewThreads(first: ` +
		`9) { totalCount nodes { id comments(first: 9) { totalCount } } } } } }`
	a := w.query(reviewer, threads, map[string]any{"number": n})
	const at = "repository.pullRequest.reviewThreads."
	if a.at(w.t, at+"totalCount") != 1.0 || a.at(w.t, at+"nodes.0.comments.totalCount") != 2.0 {
		w.t.Fatal(a)
	}
	id := map[string]any{"id": a.at(w.t, at+"nodes.0.id")}
	for range 2 {
		a = w.query(reviewer,
			`mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved resolvedBy { login } } } }`, id)
		if a.at(w.t, "resolveReviewThread.thread.resolvedBy.login") != reviewer {
			w.t.Fatal(a)
		}
	}
	a = w.query(author, `mutation($id: ID!) { unresolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }`, id)
	if a.at(w.t, "unresolveReviewThread.thread.isResolved") != false {
		w.t.Fatal(a)
	}
}

// issueSurface comments and labels, and opens an issue.
func (w *world) issueSurface(n int) {
	t, ctx, me := w.t, w.t.Context(), w.As(author)
	comment := must(me.Issues.CreateComment(ctx, "acme", "app", n, &github.IssueComment{Body: github.String("hello")}))(t)
	must(me.Issues.EditComment(ctx, "acme", "app", comment.GetID(), &github.IssueComment{Body: github.String("hello again")}))(t)
	must(me.Issues.ListComments(ctx, "acme", "app", n, nil))(t)
	succeeds(t)(me.Issues.DeleteComment(ctx, "acme", "app", comment.GetID()))
	must(me.Issues.AddLabelsToIssue(ctx, "acme", "app", n, []string{"a", "needs-human"}))(t)
	must(me.Issues.ListLabelsByIssue(ctx, "acme", "app", n, nil))(t)
	succeeds(t)(me.Issues.RemoveLabelForIssue(ctx, "acme", "app", n, "a"))
	must(me.Issues.Create(ctx, "acme", "app", &github.IssueRequest{Title: github.String("It crashes"), Labels: &[]string{"bug"}}))(t)
}

// checkSurface writes and reads check runs and statuses.
func (w *world) checkSurface(sha string) {
	t, ctx, me := w.t, w.t.Context(), w.As(author)
	app := w.As(bot)
	run := must(app.Checks.CreateCheckRun(ctx, "acme", "app",
		github.CreateCheckRunOptions{Name: "lint", HeadSHA: sha, Conclusion: github.String("success"), Output: &github.CheckRunOutput{
			Title: github.String("t"), Summary: github.String("s"), Annotations: []*github.CheckRunAnnotation{
				{Path: github.String("main.go"), StartLine: github.Int(4), EndLine: github.Int(4), AnnotationLevel: github.String("notice"),
					Message: github.String("m")},
			},
		}}))(t)
	must(me.Checks.ListCheckRunAnnotations(ctx, "acme", "app", run.GetID(), nil))(t)
	if runs := must(me.Checks.ListCheckRunsForRef(ctx, "acme", "app", "feature", nil))(t); runs.GetTotal() != 2 {
		t.Fatalf("%d check runs, want CI and lint", runs.GetTotal())
	} else {
		w.jobLog(runs.CheckRuns[0].GetID())
	}
	must(me.Repositories.CreateStatus(ctx, "acme", "app", sha,
		&github.RepoStatus{State: github.String("success"), Context: github.String("ext")}))(t)
	must(me.Repositories.GetCombinedStatus(ctx, "acme", "app", "feature", nil))(t)
}

// jobLog fetches the log of a job, without a token and with one.
func (w *world) jobLog(id int64) {
	w.t.Helper()
	place, _, err := w.As(author).Actions.GetWorkflowJobLogs(w.t.Context(), "acme", "app", id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for token, want := range map[string]string{"": "Z log", simtest.Token(author): "two ways to authenticate\n"} {
		req, err := http.NewRequestWithContext(w.t.Context(), "GET", place.String(), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.HasSuffix(string(text), want) {
			w.t.Errorf("the log is %q, %v; want %q", text, err, want)
		}
	}
}

// mergeSurface merges and deletes the branch.
func (w *world) mergeSurface(n int) {
	t, ctx, me := w.t, w.t.Context(), w.As(author)
	must(me.PullRequests.Merge(ctx, "acme", "app", n, "", &github.PullRequestOptions{MergeMethod: "squash"}))(t)
	succeeds(t)(me.Git.DeleteRef(ctx, "acme", "app", "heads/feature"))
}
