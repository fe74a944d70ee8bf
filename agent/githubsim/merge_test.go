package githubsim_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

func (w *world) merge(login string, number int, opts github.PullRequestOptions) (*github.PullRequestMergeResult, error) {
	result, _, err := w.As(login).PullRequests.Merge(w.t.Context(), "acme", "app", number, "", &opts)
	return result, err
}

func (w *world) review(login string, number int, event, body string) error {
	_, _, err := w.As(login).PullRequests.CreateReview(w.t.Context(), "acme", "app", number,
		&github.PullRequestReviewRequest{Event: &event, Body: &body})
	return err
}

// commit pushes past everybody, as Commit does.
func (w *world) commit(branch string, files map[string]string) {
	w.t.Helper()
	if _, err := w.Commit(w.t.Context(), "admin", repoName, branch, "Move "+branch, files); err != nil {
		w.t.Fatal(err)
	}
}

func TestMergeRefusals(t *testing.T) {
	strict := map[string]githubsim.Protection{"main": {RequiredChecks: []string{githubsim.CIName}, Strict: true, Approvals: 1}}
	for name, tt := range map[string]struct {
		ci       string
		rules    map[string]githubsim.Protection
		noSquash bool
		prepare  func(w *world, pr *github.PullRequest)
		login    string
		sha      string
		status   int
		says     string
	}{
		"stale head": {sha: strings.Repeat("1", 40), status: 409, says: "Head branch was modified"},
		"conflict": {status: 405, says: "not mergeable", prepare: func(w *world, _ *github.PullRequest) {
			w.commit("main", map[string]string{"main.go": "package other\n"})
		}},
		"draft": {status: 405, says: "still a draft", prepare: func(w *world, pr *github.PullRequest) {
			w.query(author, `mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { clientMutationId } }`,
				map[string]any{"id": pr.GetNodeID()})
		}},
		"closed": {status: 405, says: "not mergeable", prepare: func(w *world, _ *github.PullRequest) {
			must(w.As(author).PullRequests.Edit(w.t.Context(), "acme", "app", 1, &github.PullRequest{State: github.String("closed")}))(w.t)
		}},
		"base moves": {status: 405, says: "Base branch was modified", prepare: func(w *world, _ *github.PullRequest) {
			w.SetFaults(githubsim.Faults{MoveBase: 1})
		}},
		"no approval":   {ci: "success", rules: strict, status: 405, says: "At least 1 approving review is required"},
		"failing check": {ci: "failure", rules: strict, status: 405, says: `Required status check "ci" is expected`, prepare: approve},
		"changes requested": {ci: "success", rules: strict, status: 405, says: "Changes have been requested",
			prepare: func(w *world, _ *github.PullRequest) {
				if err := w.review(reviewer, 1, "REQUEST_CHANGES", "no"); err != nil {
					w.t.Fatal(err)
				}
			}},
		"behind": {ci: "success", rules: strict, status: 405, says: "out of date", prepare: func(w *world, pr *github.PullRequest) {
			approve(w, pr)
			w.commit("main", map[string]string{"other.txt": "x\n"})
		}},
		"no squash":       {noSquash: true, status: 405, says: "Squash merges are not allowed"},
		"no write access": {login: "guest", status: 403, says: "write access"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, func(cfg *githubsim.Config) {
				if tt.ci != "" {
					ciThat(tt.ci)(cfg)
				}
				cfg.Users = append(cfg.Users, githubsim.User{Login: "guest", Token: simtest.Token("guest")})
			}, githubsim.RepoOptions{Protected: tt.rules, NoSquash: tt.noSquash, Permissions: map[string]string{author: "write", reviewer: "write"}})
			pr := w.open("feature", map[string]string{"main.go": "package changed\n"})
			if tt.prepare != nil {
				tt.prepare(w, pr)
			}
			w.Settle()
			login := tt.login
			if login == "" {
				login = author
			}
			_, err := w.merge(login, 1, github.PullRequestOptions{SHA: tt.sha, MergeMethod: "squash"})
			if status(err) != tt.status || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want %d %q", err, tt.status, tt.says)
			}
		})
	}
}

func approve(w *world, _ *github.PullRequest) {
	if err := w.review(reviewer, 1, "APPROVE", ""); err != nil {
		w.t.Fatal(err)
	}
}

// A single move of the base is a temporary problem: the second attempt merges.
func TestMergeAgainAfterTheBaseMoved(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	w.SetFaults(githubsim.Faults{MoveBase: 1})
	if _, err := w.merge(author, 1, github.PullRequestOptions{}); status(err) != http.StatusMethodNotAllowed {
		t.Fatalf("the first attempt: %v", err)
	}
	if _, err := w.merge(author, 1, github.PullRequestOptions{}); err != nil {
		t.Fatalf("the second attempt: %v", err)
	}
	tree := w.git("", "--git-dir", w.Dir+"/acme/app.git", "ls-tree", "--name-only", "main")
	if tree != "README.md\na.txt\nmain.go\nmoved.txt" {
		t.Fatalf("main holds %q", tree)
	}
}

func TestHeadMovesRightBeforeTheMerge(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	w.SetFaults(githubsim.Faults{MoveHead: 1})
	if _, err := w.merge(author, 1, github.PullRequestOptions{SHA: pr.GetHead().GetSHA()}); status(err) != http.StatusConflict {
		t.Fatalf("merged what nobody has seen: %v", err)
	}
	if got := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", 1))(t); got.GetHead().GetSHA() == pr.GetHead().GetSHA() {
		t.Fatal("the head has not moved")
	}
}

func TestMergeMethods(t *testing.T) {
	for method, parents := range map[string]int{"squash": 1, "merge": 2} {
		t.Run(method, func(t *testing.T) {
			w := start(t, nil, githubsim.RepoOptions{})
			w.open("feature", map[string]string{"a.txt": "a\n"})
			w.push(author, "feature", map[string]string{"b.txt": "b\n"})
			w.commit("main", map[string]string{"c.txt": "c\n"})
			result, err := w.merge(reviewer, 1, github.PullRequestOptions{MergeMethod: method})
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(w.Dir, "acme", "app.git")
			line := strings.Fields(w.git("", "--git-dir", dir, "rev-list", "--parents", "-n", "1", "main"))
			if line[0] != result.GetSHA() || len(line)-1 != parents {
				t.Fatalf("main is at %v, want %s with %d parents", line, result.GetSHA(), parents)
			}
			if tree := w.git("", "--git-dir", dir, "ls-tree", "--name-only", "main"); tree != "README.md\na.txt\nb.txt\nc.txt\nmain.go" {
				t.Fatalf("main holds %q", tree)
			}
			if pr := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", 1))(t); !pr.GetMerged() ||
				pr.GetMergedBy().GetLogin() != reviewer {
				t.Fatalf("merged %v by %s", pr.GetMerged(), pr.GetMergedBy().GetLogin())
			}
		})
	}
}

func TestMergeableIsNullUntilComputed(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	w.SetFaults(githubsim.Faults{NullMergeable: 1})
	for i, want := range []bool{false, true} {
		pr := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", 1))(t)
		if (pr.Mergeable != nil) != want {
			t.Fatalf("read %d: mergeable %v, state %s", i, pr.Mergeable, pr.GetMergeableState())
		}
	}
	if out := w.git("", "ls-remote", w.Dir+"/acme/app.git", "refs/pull/1/merge"); out == "" {
		t.Fatal("there is no test merge")
	}
}

func TestUpdateBranch(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	w.commit("main", map[string]string{"c.txt": "c\n"})
	_, resp, _ := w.As(author).PullRequests.UpdateBranch(t.Context(), "acme", "app", 1,
		&github.PullRequestBranchUpdateOptions{ExpectedHeadSHA: pr.GetHead().SHA})
	if resp.StatusCode != http.StatusAccepted {
		t.Fatal(resp.Status)
	}
	got := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", 1))(t)
	if got.GetHead().GetSHA() == pr.GetHead().GetSHA() || got.GetChangedFiles() != 1 {
		t.Fatalf("head %s, %d changed files", got.GetHead().GetSHA(), got.GetChangedFiles())
	}
	_, _, err := w.As(author).PullRequests.UpdateBranch(t.Context(), "acme", "app", 1,
		&github.PullRequestBranchUpdateOptions{ExpectedHeadSHA: pr.GetHead().SHA})
	if status(err) != http.StatusUnprocessableEntity {
		t.Fatalf("with an old head: %v", err)
	}
}

func TestCIRunsOnEveryNewHead(t *testing.T) {
	var w *world
	w = start(t, func(cfg *githubsim.Config) {
		cfg.CI = func(_ context.Context, repo, sha, dir string) githubsim.CIResult {
			if out, err := w.tryGit(dir, "ls-files", "--others", "--cached"); err == nil {
				return githubsim.CIResult{Conclusion: "failure", Summary: "the checkout is a repository: " + out}
			}
			found, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(found) != 3 {
				return githubsim.CIResult{Conclusion: "failure", Summary: strings.Join(found, " ")}
			}
			return githubsim.CIResult{Conclusion: "success", Log: repo + " " + sha}
		}
	}, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	second := w.push(author, "feature", map[string]string{"a.txt": "b\n"})
	w.Settle()
	for _, sha := range []string{pr.GetHead().GetSHA(), second} {
		runs := must(w.As(author).Checks.ListCheckRunsForRef(t.Context(), "acme", "app", sha, nil))(t)
		if runs.GetTotal() != 1 || runs.CheckRuns[0].GetConclusion() != "success" {
			t.Fatalf("%s: %v", sha, runs.CheckRuns)
		}
	}
}

// Who deletes a base branch closes the pull requests into it. If GitHub itself deletes the branch after merging its pull
// request, the others get the merged one's base.
func TestADeletedBaseClosesItsPullRequestsOrHandsThemOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := start(t, nil, githubsim.RepoOptions{DeleteMerged: true})
	lower := w.open("lower", map[string]string{"lower.txt": "lower\n"})
	w.push(author, "other", map[string]string{"other.txt": "other\n"})
	onto := func(head, base string, files map[string]string) int {
		w.push(author, head, files)
		return must(w.As(author).PullRequests.Create(ctx, "acme", "app",
			&github.NewPullRequest{Title: &head, Head: &head, Base: &base}))(t).GetNumber()
	}
	follows, closes := onto("follows", "lower", map[string]string{"a.txt": "a\n"}), onto("closes", "other", map[string]string{"b.txt": "b\n"})
	must(w.As(author).PullRequests.Merge(ctx, "acme", "app", lower.GetNumber(), "", &github.PullRequestOptions{MergeMethod: "squash"}))(t)
	if _, err := w.As(author).Git.DeleteRef(ctx, "acme", "app", "heads/other"); err != nil {
		t.Fatal(err)
	}
	if p := must(w.As(author).PullRequests.Get(ctx, "acme", "app", follows))(t); p.GetState() != "open" || p.GetBase().GetRef() != "main" {
		t.Errorf("what was to be merged into the merged branch is %s and goes into %s, want main", p.GetState(), p.GetBase().GetRef())
	}
	if p := must(w.As(author).PullRequests.Get(ctx, "acme", "app", closes))(t); p.GetState() != "closed" || p.GetMerged() {
		t.Errorf("what was to be merged into the deleted branch is %s", p.GetState())
	}
	for what, change := range map[string]*github.PullRequest{
		"without its base":            {State: github.String("open")},
		"with another one, as closed": {Base: &github.PullRequestBranch{Ref: github.String("main")}},
	} {
		if _, _, err := w.As(author).PullRequests.Edit(ctx, "acme", "app", closes, change); status(err) != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v, want 422", what, err)
		}
	}
}
