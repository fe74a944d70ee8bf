package githubsim_test

import (
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
	"touchstone/agent/githubsim/simtest"
)

const (
	author   = "octocat"
	reviewer = "hubot"
	bot      = "ci-bot"
	repoName = "acme/app"
)

// world is a GitHub with acme/app, which somebody pushes to with git.
type world struct {
	*simtest.GitHub
	t testing.TB
}

// start serves acme/app; tweak may change the configuration first.
func start(t testing.TB, tweak func(*githubsim.Config), opts githubsim.RepoOptions) *world {
	t.Helper()
	config := githubsim.Config{Transport: contract.Transport(t, nil), DeliveryTimeout: time.Minute,
		Users: simtest.Users("admin", author, reviewer, bot)}
	config.Users[3].App = true
	if tweak != nil {
		tweak(&config)
	}
	opts.Owner, opts.Name = "acme", "app"
	if opts.Files == nil {
		opts.Files = map[string]string{"main.go": "package main\n\nfunc main() {\n}\n", "README.md": "# app\n"}
	}
	return &world{simtest.Start(t, config, opts), t}
}

// push commits files to a branch through a clone and git's own HTTP.
func (w *world) push(login, branch string, files map[string]string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	remote, err := url.Parse(w.URL + "/" + repoName + ".git")
	if err != nil {
		w.t.Fatal(err)
	}
	remote.User = url.UserPassword("x", simtest.Token(login))
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
	pr, _, err := w.As(author).PullRequests.Create(w.t.Context(), "acme", "app", &github.NewPullRequest{
		Title: github.String("Add " + branch), Head: github.String(branch), Base: github.String("main"), Body: github.String("Because."),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Settle()
	return pr
}

func TestPullRequestFromPushToSquash(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	pr := w.open("feature", map[string]string{"new.go": "package main\n"})
	ctx := t.Context()
	got, _, err := w.As(reviewer).PullRequests.Get(ctx, "acme", "app", pr.GetNumber())
	if err != nil {
		t.Fatal(err)
	}
	if !got.GetMergeable() || got.GetMergeableState() != "clean" || got.GetChangedFiles() != 1 {
		t.Fatalf("mergeable %v, state %q, files %d", got.GetMergeable(), got.GetMergeableState(), got.GetChangedFiles())
	}
	merged, _, err := w.As(author).PullRequests.Merge(ctx, "acme", "app", pr.GetNumber(), "", &github.PullRequestOptions{
		SHA: got.GetHead().GetSHA(), MergeMethod: "squash",
	})
	if err != nil {
		t.Fatal(err)
	}
	if log := w.git(filepath.Join(w.Dir, "acme", "app.git"), "log", "--format=%H %an %P", "-n", "1", "main"); !strings.HasPrefix(log,
		merged.GetSHA()+" "+author) {
		t.Fatalf("main is at %q, not at the squash %s", log, merged.GetSHA())
	}
}
