package githubsim_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

// clone makes a clone with one commit on feature that is not pushed yet.
func (w *world) clone() (dir, sha string) {
	w.t.Helper()
	dir = filepath.Join(w.t.TempDir(), "clone")
	w.git("", "clone", "--quiet", strings.Replace(w.URL, "http://", "http://x:"+simtest.Token(author)+"@", 1)+"/"+repoName+".git", dir)
	w.git(dir, "checkout", "--quiet", "-b", "feature")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.git(dir, "add", "--all")
	w.git(dir, "-c", "user.name=o", "-c", "user.email=o@example.com", "commit", "--quiet", "-m", "a")
	return dir, w.git(dir, "rev-parse", "HEAD")
}

// dropping cuts every request of the author whose path has this suffix.
func dropping(suffix string, when githubsim.Drop) func(string, *http.Request) githubsim.Fault {
	return func(login string, r *http.Request) githubsim.Fault {
		if login == author && strings.HasSuffix(r.URL.Path, suffix) {
			return githubsim.Fault{Drop: when}
		}
		return githubsim.Fault{}
	}
}

// A connection that is cut before the act leaves no trace; if it is cut afterwards, the act has happened.
func TestDroppedConnections(t *testing.T) {
	for _, when := range []githubsim.Drop{githubsim.DropBefore, githubsim.DropAfter} {
		acted := when == githubsim.DropAfter
		t.Run(map[bool]string{false: "before", true: "after"}[acted], func(t *testing.T) {
			w := start(t, nil, githubsim.RepoOptions{})
			in := w.listen("json", "push", "issue_comment")
			dir, sha := w.clone()
			bare := filepath.Join(w.Dir, "acme", "app.git")

			w.Intercept(dropping("/git-receive-pack", when))
			if out, err := w.tryGit(dir, "push", "origin", "feature"); err == nil {
				t.Fatalf("the push succeeded: %s", out)
			}
			got, _ := w.tryGit("", "--git-dir", bare, "rev-parse", "--verify", "--quiet", "refs/heads/feature")
			if (got == sha) != acted {
				t.Fatalf("feature is at %q after the push was cut", got)
			}
			w.Intercept(nil)
			w.git(dir, "push", "--quiet", "origin", "feature")
			pr := must(w.As(author).PullRequests.Create(t.Context(), "acme", "app", &github.NewPullRequest{
				Title: github.String("t"), Head: github.String("feature"), Base: github.String("main"),
			}))(t)

			w.Intercept(dropping("/comments", when))
			_, _, err := w.As(author).Issues.CreateComment(t.Context(), "acme", "app", 1, &github.IssueComment{Body: github.String("hello")})
			if err == nil || status(err) != 0 {
				t.Fatalf("the comment was answered: %v", err)
			}
			list := must(w.As(reviewer).Issues.ListComments(t.Context(), "acme", "app", 1, nil))(t)
			if (len(list) == 1) != acted {
				t.Fatalf("%d comments", len(list))
			}

			w.Intercept(dropping("/graphql", when))
			client := w.As(author)
			req, err := client.NewRequest("POST", w.URL+"/api/graphql", map[string]any{
				"query":     `mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { clientMutationId } }`,
				"variables": map[string]any{"id": pr.GetNodeID()},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Do(t.Context(), req, nil); err == nil {
				t.Fatal("the mutation was answered")
			}
			w.Intercept(nil)
			if got := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", 1))(t); got.GetDraft() != acted {
				t.Fatalf("draft %v", got.GetDraft())
			}
			w.Settle()
			pushes := strings.Count(strings.Join(in.kinds(), " "), "push")
			if pushes != 1 {
				t.Fatalf("%d push events", pushes)
			}
		})
	}
}

func TestInterceptedLimits(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	var calls atomic.Int32
	w.Intercept(func(login string, r *http.Request) githubsim.Fault {
		if login == reviewer && calls.Add(1) == 1 {
			return githubsim.Fault{Status: http.StatusForbidden, RetryAfter: 1500 * time.Millisecond}
		}
		return githubsim.Fault{}
	})
	_, _, err := w.As(reviewer).Users.Get(t.Context(), "")
	limited, ok := err.(*github.AbuseRateLimitError)
	if !ok || limited.GetRetryAfter() != 2*time.Second {
		t.Fatalf("got %T %v", err, err)
	}
	must(w.As(reviewer).Users.Get(t.Context(), ""))(t)
	must(w.As(author).Users.Get(t.Context(), ""))(t)
}

// Intercept runs before GitHub looks at the request.
func TestInterceptMayMoveTheHead(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	w.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/merge") {
			w.commit("feature", map[string]string{"late.txt": "x\n"})
		}
		return githubsim.Fault{}
	})
	if _, err := w.merge(author, 1, github.PullRequestOptions{SHA: pr.GetHead().GetSHA()}); status(err) != http.StatusConflict {
		t.Fatalf("merged a head that had moved: %v", err)
	}
}

func TestGitChecksWhoPushes(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Private: true, Permissions: map[string]string{author: "write", bot: "read"}})
	dir, _ := w.clone()
	remote := func(user string) string {
		return strings.Replace(w.URL, "http://", "http://"+user, 1) + "/" + repoName + ".git"
	}
	for name, tt := range map[string]struct{ url, says string }{
		"a reader":      {remote("x:" + simtest.Token(bot) + "@"), "denied to " + bot},
		"an outsider":   {remote("x:" + simtest.Token(reviewer) + "@"), "not found"},
		"a wrong token": {remote("x:wrong@"), "Authentication failed"},
		"nobody":        {remote(""), "could not read Username"},
	} {
		if out, err := w.tryGit(dir, "push", tt.url, "feature"); err == nil || !strings.Contains(out, tt.says) {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	if out, err := w.tryGit(dir, "push", "origin", "feature:refs/pull/7/head"); err == nil {
		t.Errorf("pushed to a pull request's ref: %s", out)
	}
	large := strings.Repeat("0123456789abcdef\n", 1<<17) // more than http.postBuffer: a chunked body
	if err := os.WriteFile(filepath.Join(dir, "large"), []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	w.git(dir, "add", "--all")
	w.git(dir, "-c", "user.name=o", "-c", "user.email=o@example.com", "commit", "--quiet", "-m", "large")
	w.git(dir, "-c", "http.postBuffer=1000", "push", "--quiet", "origin", "feature")
}

func TestDeletedHeadClosesThePullRequest(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	succeeds(t)(w.As(author).Git.DeleteRef(t.Context(), "acme", "app", "heads/feature"))
	if pr := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", 1))(t); pr.GetState() != "closed" || pr.GetMerged() {
		t.Fatalf("state %s, merged %v", pr.GetState(), pr.GetMerged())
	}
}

func TestPullRequestFromAFork(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Permissions: map[string]string{reviewer: "write"}})
	if err := w.CreateRepo(t.Context(), githubsim.RepoOptions{
		Owner: author, Name: "app", ForkOf: repoName, Permissions: map[string]string{},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context(), author, author+"/app", "main", "Change", map[string]string{"a.txt": "a\n"}); err != nil {
		t.Fatal(err)
	}
	pr := must(w.As(author).PullRequests.Create(t.Context(), "acme", "app", &github.NewPullRequest{
		Title: github.String("t"), Head: github.String(author + ":main"), Base: github.String("main"), MaintainerCanModify: github.Bool(true),
	}))(t)
	a := w.query(reviewer, pullQuery, pullVariables(pr.GetNumber()))
	if a.at(t, "repository.pullRequest.isCrossRepository") != true ||
		a.at(t, "repository.pullRequest.headRepository.nameWithOwner") != author+"/app" ||
		a.at(t, "repository.pullRequest.maintainerCanModify") != true {
		t.Fatal(a)
	}
	if _, err := w.Commit(t.Context(), author, author+"/app", "main", "Again", map[string]string{"b.txt": "b\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.merge(reviewer, pr.GetNumber(), github.PullRequestOptions{MergeMethod: "squash"}); err != nil {
		t.Fatal(err)
	}
	if tree := w.git("", "--git-dir", filepath.Join(w.Dir, "acme", "app.git"), "ls-tree", "--name-only", "main"); !strings.Contains(tree,
		"b.txt") {
		t.Fatalf("main holds %q", tree)
	}
}

// A new simulator on another one's directory knows its refs.
func TestRepositoriesOutliveTheSimulator(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	again, err := githubsim.New(githubsim.Config{Dir: w.Dir, URL: w.URL, Users: []githubsim.User{{Login: author, Token: "t"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Repos(); len(got) != 1 || got[0] != repoName {
		t.Fatal(got)
	}
	if err := again.CreateRepo(t.Context(), githubsim.RepoOptions{Owner: "acme", Name: "app"}); err == nil {
		t.Fatal("made a repository twice")
	}
	if _, err := githubsim.New(githubsim.Config{Dir: w.Dir, URL: w.URL}); err == nil {
		t.Fatal("a simulator without users is of no use")
	}
}
