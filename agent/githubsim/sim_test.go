package githubsim_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/contract"
)

const (
	author   = "octocat"
	reviewer = "hubot"
	bot      = "ci-bot"
	repoName = "acme/app"
)

// world is a simulator that serves on loopback for one test.
type world struct {
	*githubsim.Sim
	t   testing.TB
	url string
	dir string
}

func tokenOf(login string) string { return "token-of-" + login }

// start serves acme/app; tweak may change the configuration first.
func start(t testing.TB, tweak func(*githubsim.Config), opts githubsim.RepoOptions) *world {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := githubsim.Config{
		Dir: t.TempDir(), URL: "http://" + ln.Addr().String(), Transport: contract.Transport(t, nil),
		DeliveryTimeout: time.Minute,
	}
	for _, login := range []string{author, reviewer, bot, "admin"} {
		cfg.Users = append(cfg.Users, githubsim.User{Login: login, Token: tokenOf(login), Admin: login == "admin", App: login == bot})
	}
	if tweak != nil {
		tweak(&cfg)
	}
	sim, err := githubsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	opts.Owner, opts.Name = "acme", "app"
	if opts.Files == nil {
		opts.Files = map[string]string{"main.go": "package main\n\nfunc main() {\n}\n", "README.md": "# app\n"}
	}
	if err := sim.CreateRepo(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server := &http.Server{Handler: contract.Wrap(t, sim.Handler())}
	ran := make(chan error, 2)
	go func() { ran <- server.Serve(ln) }()
	go func() { ran <- sim.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		server.Close()
		<-ran
		<-ran
	})
	return &world{Sim: sim, t: t, url: cfg.URL, dir: cfg.Dir}
}

// as returns a client that is signed in as login.
func (w *world) as(login string) *github.Client {
	w.t.Helper()
	client, err := github.NewClient(nil).WithAuthToken(tokenOf(login)).WithEnterpriseURLs(w.url, w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// push commits files to a branch through a clone and git's own HTTP.
func (w *world) push(login, branch string, files map[string]string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	remote, err := url.Parse(w.url + "/" + repoName + ".git")
	if err != nil {
		w.t.Fatal(err)
	}
	remote.User = url.UserPassword("x", tokenOf(login))
	w.git("", "clone", "--quiet", remote.String(), dir)
	if _, err := w.tryGit(dir, "checkout", "--quiet", branch); err != nil {
		w.git(dir, "checkout", "--quiet", "-b", branch)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	w.git(dir, "add", "--all")
	w.git(dir, "-c", "user.name="+login, "-c", "user.email="+login+"@example.com", "commit", "--quiet", "-m", "Change "+branch)
	w.git(dir, "push", "--quiet", "origin", branch)
	return w.git(dir, "rev-parse", "HEAD")
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.tryGit(dir, args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return out
}

func (w *world) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// open pushes a branch and opens a pull request from it.
func (w *world) open(branch string, files map[string]string) *github.PullRequest {
	w.t.Helper()
	w.push(author, branch, files)
	pr, _, err := w.as(author).PullRequests.Create(w.t.Context(), "acme", "app", &github.NewPullRequest{
		Title: github.String("Add " + branch), Head: github.String(branch), Base: github.String("main"), Body: github.String("Because."),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	return pr
}

func (w *world) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	if err := w.Settle(ctx); err != nil {
		w.t.Fatal("the simulator does not come to rest: ", err)
	}
}

func TestPullRequestFromPushToSquash(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"new.go": "package main\n"})
	ctx := t.Context()
	got, _, err := w.as(reviewer).PullRequests.Get(ctx, "acme", "app", pr.GetNumber())
	if err != nil {
		t.Fatal(err)
	}
	if !got.GetMergeable() || got.GetMergeableState() != "clean" || got.GetChangedFiles() != 1 {
		t.Fatalf("mergeable %v, state %q, files %d", got.GetMergeable(), got.GetMergeableState(), got.GetChangedFiles())
	}
	merged, _, err := w.as(author).PullRequests.Merge(ctx, "acme", "app", pr.GetNumber(), "", &github.PullRequestOptions{
		SHA: got.GetHead().GetSHA(), MergeMethod: "squash",
	})
	if err != nil {
		t.Fatal(err)
	}
	if log := w.git(filepath.Join(w.dir, "acme", "app.git"), "log", "--format=%H %an %P", "-n", "1", "main"); !strings.HasPrefix(log, merged.GetSHA()+" "+author) {
		t.Fatalf("main is at %q, not at the squash %s", log, merged.GetSHA())
	}
}
