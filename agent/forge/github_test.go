package forge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

const (
	octocat = "octocat" // opens pull requests
	hubot   = "hubot"   // reviews them
	ci      = "ci"      // an app, reports checks
	guest   = "guest"   // has no part in the repository
)

var app = forge.Repo{Owner: "acme", Name: "app"}

// world is a GitHub with acme/app, as the package under test and others see it.
type world struct {
	*simtest.GitHub
	t *testing.T
}

func start(t *testing.T, opts githubsim.RepoOptions) *world {
	t.Helper()
	return startWithCI(t, opts, nil)
}

func startWithCI(t *testing.T, opts githubsim.RepoOptions, run func(ctx context.Context, repo, sha, dir string) githubsim.CIResult) *world {
	t.Helper()
	users := []githubsim.User{
		{Login: octocat, Token: simtest.Token(octocat)}, {Login: hubot, Token: simtest.Token(hubot)},
		{Login: ci, Token: simtest.Token(ci), App: true}, {Login: guest, Token: simtest.Token(guest)},
	}
	opts.Owner, opts.Name = app.Owner, app.Name
	opts.Files = map[string]string{"main.go": "package main\n\nfunc main() {}\n"}
	return &world{simtest.Start(t, githubsim.Config{Users: users, CI: run}, opts), t}
}

// as is the package under test, signed in as login.
func (w *world) as(login string) *forge.Client {
	w.t.Helper()
	c, err := forge.New(forge.Config{APIURL: w.URL, Token: "token-of-" + login, Version: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// commit puts files onto a branch and returns the commit.
func (w *world) commit(branch string, files map[string]string) string {
	w.t.Helper()
	sha, err := w.Commit(w.t.Context(), octocat, app.String(), branch, "Change "+branch, files)
	if err != nil {
		w.t.Fatal(err)
	}
	return sha
}

// open opens a pull request from a new branch, and waits until GitHub knows whether it merges.
func (w *world) open(branch string) (forge.Ref, string) {
	w.t.Helper()
	sha := w.commit(branch, map[string]string{branch + ".go": "package main\n\nvar (\n\ta = 1\n\tb = 2\n)\n"})
	pr, _, err := w.As(octocat).PullRequests.Create(w.t.Context(), app.Owner, app.Name, &github.NewPullRequest{
		Title: github.String("Add " + branch), Head: &branch, Base: github.String("main"), Body: github.String("Because."),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Settle()
	return forge.Ref{Repo: app, Number: pr.GetNumber()}, sha
}

func (w *world) read(ref forge.Ref) forge.PullRequest {
	w.t.Helper()
	pr, err := w.as(hubot).PullRequest(w.t.Context(), ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return pr
}

func (w *world) post(ref forge.Ref, sha, event, body string, comments ...forge.ReviewComment) (forge.Posted, error) {
	return forge.NewPoster(w.as(hubot)).PostReview(w.t.Context(), ref, forge.Review{SHA: sha, Event: event, Body: body, Comments: comments})
}

func (w *world) check(name, sha, status, conclusion string, output *github.CheckRunOutput) {
	w.t.Helper()
	options := github.CreateCheckRunOptions{Name: name, HeadSHA: sha, Status: &status, Output: output,
		DetailsURL: github.String("https://ci.example.com/1")}
	if conclusion != "" {
		options.Conclusion = &conclusion
	}
	if _, _, err := w.As(ci).Checks.CreateCheckRun(w.t.Context(), app.Owner, app.Name, options); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) status(context, sha, state string) {
	w.t.Helper()
	if _, _, err := w.As(octocat).Repositories.CreateStatus(w.t.Context(), app.Owner, app.Name, sha, &github.RepoStatus{
		Context: &context, State: &state, Description: github.String("it said " + state),
	}); err != nil {
		w.t.Fatal(err)
	}
}

func TestPullRequestIsReadWhole(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {RequiredChecks: []string{"build"}}}})
	ref, sha := w.open("topic")
	if _, _, err := w.As(octocat).PullRequests.RequestReviewers(t.Context(), app.Owner, app.Name, ref.Number,
		github.ReviewersRequest{Reviewers: []string{hubot}}); err != nil {
		t.Fatal(err)
	}
	speaker := forge.NewSpeaker(w.as(octocat))
	if err := speaker.AddLabel(t.Context(), ref, "needs-human"); err != nil {
		t.Fatal(err)
	}
	said, err := speaker.Comment(t.Context(), ref, "Please look.")
	if err != nil {
		t.Fatal(err)
	}
	w.check("build", sha, "completed", "failure", &github.CheckRunOutput{Title: github.String("2 tests failed"), Summary: github.String("…")})
	w.check("slow", sha, "in_progress", "", nil)
	w.status("lint", sha, "success")
	base := w.commit("main", map[string]string{"other.go": "package main\n"})
	w.Settle()

	pr := w.read(ref)
	if pr.Ref != ref || pr.Title != "Add topic" || pr.Body != "Because." || pr.Author != (forge.User{Login: octocat}) || pr.ID == "" ||
		!strings.HasSuffix(pr.URL, "/acme/app/pull/1") {
		t.Errorf("described as %q, %q, %q, %q by %+v", pr.ID, pr.Title, pr.Body, pr.URL, pr.Author)
	}
	if !pr.Open || pr.Merged || pr.Draft || pr.Fork || pr.InQueue || pr.MergeSHA != "" || pr.Mergeable != forge.MergeableClean {
		t.Errorf("open %t, merged %t as %q, draft %t, fork %t, mergeable %s", pr.Open, pr.Merged, pr.MergeSHA, pr.Draft, pr.Fork, pr.Mergeable)
	}
	if want := (forge.Branch{Repo: app, Name: "topic", SHA: sha}); pr.Head != want {
		t.Errorf("head %+v; want %+v", pr.Head, want)
	}
	if want := (forge.Branch{Repo: app, Name: "main", SHA: base}); pr.Base != want {
		t.Errorf("base %+v; want %+v, the branch's tip", pr.Base, want)
	}
	if !slices.Equal(pr.Labels, []string{"needs-human"}) || !slices.Equal(pr.Requested, []string{hubot}) || pr.Viewer != hubot ||
		!pr.ViewerPermission.CanWrite() {
		t.Errorf("labels %q, requested %q, viewer %s who may %s", pr.Labels, pr.Requested, pr.Viewer, pr.ViewerPermission)
	}
	if len(pr.Comments) != 1 || pr.Comments[0].Body != "Please look." || pr.Comments[0].Author.Login != octocat ||
		pr.Comments[0].URL != said || pr.Comments[0].EditedAt != nil || pr.Comments[0].CreatedAt.IsZero() {
		t.Errorf("comments %+v", pr.Comments)
	}
	slices.SortFunc(pr.Checks, func(a, b forge.Check) int { return strings.Compare(a.Name, b.Name) })
	for i := range pr.Checks {
		if time.Since(pr.Checks[i].At) > time.Hour {
			t.Errorf("the check %s reported at %v", pr.Checks[i].Name, pr.Checks[i].At)
		}
		pr.Checks[i].At = time.Time{}
		c := &pr.Checks[i]
		if fromApp := c.Kind == forge.CheckRun; fromApp && c.AppID == 0 || !fromApp && c.By.ID == 0 {
			t.Errorf("%s has no number of its source: %+v", c.Name, c)
		}
		c.App, c.AppID, c.By.ID = strings.TrimSuffix(c.App, "[bot]"), 0, 0
	}
	want := []forge.Check{
		{Name: "build", App: ci, Kind: forge.CheckRun, State: forge.CheckFailure, Required: true, URL: "https://ci.example.com/1",
			Summary: "2 tests failed"},
		{Name: "lint", By: forge.User{Login: octocat}, Kind: forge.Status, State: forge.CheckSuccess, Summary: "it said success"},
		{Name: "slow", App: ci, Kind: forge.CheckRun, State: forge.CheckPending, URL: "https://ci.example.com/1"},
	}
	if !reflect.DeepEqual(pr.Checks, want) {
		t.Errorf("checks %+v\nwant   %+v", pr.Checks, want)
	}
	if err := speaker.RemoveLabel(t.Context(), ref, "needs-human"); err != nil {
		t.Fatal(err)
	}
	if err := speaker.RemoveLabel(t.Context(), ref, "needs-human"); err != nil {
		t.Errorf("taking off a label that is not there: %v", err)
	}
	if pr := w.read(ref); len(pr.Labels) != 0 {
		t.Errorf("labels %q", pr.Labels)
	}
}

func TestMergeableIsUnknownWhileGitHubComputes(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, _ := w.open("topic")
	w.SetFaults(githubsim.Faults{NullMergeable: 1})
	if pr := w.read(ref); pr.Mergeable != forge.MergeableUnknown {
		t.Errorf("mergeable is %s; want unknown", pr.Mergeable)
	}
	w.commit("main", map[string]string{"topic.go": "package other\n"})
	w.Settle()
	if pr := w.read(ref); pr.Mergeable != forge.MergeableConflicting {
		t.Errorf("mergeable is %s; want conflicting", pr.Mergeable)
	}
}

func TestBehindIsToldUnderStrictProtection(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {Strict: true}}})
	ref, _ := w.open("topic")
	if pr := w.read(ref); pr.Behind {
		t.Error("behind a base that has not moved")
	}
	w.commit("main", map[string]string{"other.go": "package main\n"})
	w.Settle()
	if pr := w.read(ref); !pr.Behind || pr.Mergeable != forge.MergeableClean {
		t.Errorf("behind %t, mergeable %s after the base moved; want true and clean", pr.Behind, pr.Mergeable)
	}
}

func TestLongListsAreReadToTheEnd(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, sha := w.open("topic")
	speaker := forge.NewSpeaker(w.as(octocat))
	for i := range 120 {
		if _, err := speaker.Comment(t.Context(), ref, fmt.Sprintf("comment %d", i)); err != nil {
			t.Fatal(err)
		}
		if i < 20 {
			if _, err := w.post(ref, sha, forge.RequestChanges, fmt.Sprintf("review %d", i)); err != nil {
				t.Fatal(err)
			}
		}
		w.status(fmt.Sprintf("status %d", i), sha, "success")
		label := speaker.AddLabel
		if i%2 == 1 {
			label = speaker.RemoveLabel
		}
		if err := label(t.Context(), ref, fmt.Sprintf("label %d", i/2)); err != nil {
			t.Fatal(err)
		}
	}
	pr := w.read(ref)
	if l := pr.Labelled; len(l) != 120 || l[0].Label != "label 0" || !l[0].Added || l[119].Label != "label 59" || l[119].Added {
		t.Errorf("labelled %d times; want 120, the oldest first", len(l))
	}
	if len(pr.Comments) != 120 || len(pr.Reviews) != 20 || len(pr.Checks) != 120 {
		t.Fatalf("%d comments, %d reviews, %d checks; want 120, 20, 120", len(pr.Comments), len(pr.Reviews), len(pr.Checks))
	}
	names := map[string]bool{}
	for i := range 120 {
		if pr.Comments[i].Body != fmt.Sprintf("comment %d", i) || i < 20 && pr.Reviews[i].Body != fmt.Sprintf("review %d", i) {
			t.Fatalf("at %d: %q; want the oldest first", i, pr.Comments[i].Body)
		}
		names[pr.Checks[i].Name] = true
	}
	if len(names) != 120 {
		t.Errorf("%d different checks; want 120", len(names))
	}
}

// TestAPushBetweenTwoPages: reviews of one head and checks of another must never be read as one state.
func TestAPushBetweenTwoPages(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, _ := w.open("topic")
	speaker := forge.NewSpeaker(w.as(octocat))
	for range 60 {
		if _, err := speaker.Comment(t.Context(), ref, "one more"); err != nil {
			t.Fatal(err)
		}
	}
	var pages atomic.Int32
	var newest atomic.Value
	w.Intercept(func(login string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/graphql") && pages.Add(1) == 2 {
			newest.Store(w.commit("topic", map[string]string{"late.go": "package main\n"}))
			w.status("build", newest.Load().(string), "failure")
		}
		return githubsim.Fault{}
	})
	pr := w.read(ref)
	if pages.Load() < 4 || pr.Head.SHA != newest.Load() || len(pr.Comments) != 60 || len(pr.Checks) != 1 ||
		pr.Checks[0].State != forge.CheckFailure {
		t.Errorf("%d pages: head %s, %d comments, checks %+v; want all of %s, read anew", pages.Load(), pr.Head.SHA, len(pr.Comments), pr.Checks,
			newest.Load())
	}
}

func TestOpenPullRequests(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	for i := range 53 {
		w.open(fmt.Sprintf("topic-%d", i))
	}
	if _, _, err := w.As(octocat).PullRequests.Edit(t.Context(), app.Owner, app.Name, 7,
		&github.PullRequest{State: github.String("closed")}); err != nil {
		t.Fatal(err)
	}
	list, err := w.as(hubot).OpenPullRequests(t.Context(), app)
	if err != nil || len(list) != 52 {
		t.Fatalf("%d open, %v; want 52", len(list), err)
	}
	for _, pr := range list {
		if pr.Number == 7 || pr.Repo != app || time.Since(pr.UpdatedAt) > time.Hour {
			t.Errorf("listed %s, updated %s", pr, pr.UpdatedAt)
		}
	}
	if first := list[0]; first.Number != 53 || first.Title != "Add topic-52" {
		t.Errorf("the newest is %s, %q", first, first.Title)
	}
}

func TestLoginRightsAndHeadAreRead(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Private: true, Permissions: map[string]string{octocat: "write", hubot: "read"}})
	ref, sha := w.open("topic")
	c := w.as(octocat)
	if login, err := c.Viewer(t.Context()); err != nil || login != octocat {
		t.Errorf("viewer %q, %v", login, err)
	}
	if address, err := c.Address(t.Context()); err != nil ||
		!regexp.MustCompile(`^[1-9][0-9]*\+octocat@users\.noreply\.127\.0\.0\.1$`).MatchString(address) {
		t.Errorf("address %q, %v", address, err)
	}
	if head, err := c.HeadSHA(t.Context(), ref); err != nil || head != sha {
		t.Errorf("head %q, %v; want %s", head, err, sha)
	}
	for login, may := range map[string]bool{octocat: true, hubot: false, ci: false} {
		if p, err := c.Permission(t.Context(), app, login); err != nil || p.CanWrite() != may {
			t.Errorf("%s may %q, %v; want write access: %t", login, p, err, may)
		}
	}
	if _, err := c.PullRequest(t.Context(), forge.Ref{Repo: app, Number: 99}); !errors.Is(err, forge.ErrNotFound) ||
		!strings.Contains(err.Error(), "has no pull request with this number") {
		t.Errorf("a pull request that is not there: %v", err)
	}
	if _, err := c.HeadSHA(t.Context(), forge.Ref{Repo: app, Number: 99}); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("the head of one that is not there: %v", err)
	}
	if _, err := c.OpenPullRequests(t.Context(), forge.Repo{Owner: "acme", Name: "none"}); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a repository that is not there: %v", err)
	}
	if _, err := w.as("nobody").Viewer(t.Context()); !errors.Is(err, forge.ErrUnauthorized) {
		t.Errorf("an unknown token: %v", err)
	}
}

func TestABranchsRulesAreRead(t *testing.T) {
	on := func(branch string, rule githubsim.Protection) map[string]githubsim.Protection {
		return map[string]githubsim.Protection{branch: rule}
	}
	for _, test := range []struct {
		opts githubsim.RepoOptions
		want forge.Rules
	}{
		{githubsim.RepoOptions{Protected: on("other", githubsim.Protection{Approvals: 1})}, forge.Rules{Branch: "main", Squash: true}},
		{githubsim.RepoOptions{NoSquash: true, Protected: on("main", githubsim.Protection{Approvals: 2})},
			forge.Rules{Branch: "main", Approvals: 2}},
		{githubsim.RepoOptions{Protected: on("main", githubsim.Protection{RequiredChecks: []string{"test"}})},
			forge.Rules{Branch: "main", Squash: true, Checks: []string{"test"}}},
		{githubsim.RepoOptions{Protected: on("main",
			githubsim.Protection{Ruleset: true, Approvals: 1, RequiredChecks: []string{"test"}, MergeQueue: true})},
			forge.Rules{Branch: "main", Squash: true, Approvals: 1, Checks: []string{"test"}, Queue: true}},
	} {
		w := start(t, test.opts)
		got, err := w.as(hubot).Rules(t.Context(), app)
		if len(got.Checks) == 0 {
			got.Checks, test.want.Checks = nil, nil
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v has the rules %+v, %v; want %+v", test.opts, got, err, test.want)
		}
	}
	w := start(t, githubsim.RepoOptions{})
	if _, err := w.as(hubot).Rules(t.Context(), forge.Repo{Owner: "acme", Name: "none"}); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a repository that is not there: %v", err)
	}
}

func TestGitTakesTheRemote(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err) // the simulator needs it too
	}
	w := start(t, githubsim.RepoOptions{Private: true, Permissions: map[string]string{octocat: "write"}})
	_, sha := w.open("topic")
	url, authorization, err := w.as(octocat).Remote(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(git, "ls-remote", url, "refs/pull/1/head")
	cmd.Env = []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "HOME=" + t.TempDir(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http." + url + ".extraHeader", "GIT_CONFIG_VALUE_0=Authorization: " + authorization,
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), sha) {
		t.Errorf("%s, %v; want %s", out, err, sha)
	}
}

func TestGitHubsHostIsThatOfItsPages(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"": "github.com", "https://api.github.com/": "github.com", "https://api.acme.ghe.com/": "acme.ghe.com",
		"https://github.example.com/api/v3/": "github.example.com",
	} {
		if host, err := (forge.Config{APIURL: api}).Host(); host != want || err != nil {
			t.Errorf("the API at %q is of %q, %v; want %s", api, host, err, want)
		}
	}
}
