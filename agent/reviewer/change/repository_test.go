package change

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/worktree"
)

// Repository is a real one, with a commit on main and one on topic.
type Repository struct {
	T   testing.TB
	Dir string
}

// NewRepository has these files on main.
func NewRepository(t testing.TB, files map[string]string) Repository {
	t.Helper()
	r := Repository{t, t.TempDir()}
	r.Git("init", "-q", "-b", "main")
	r.Write(files)
	r.Commit("base")
	r.Git("checkout", "-q", "-b", "topic")
	return r
}

// Git runs git in the working tree and returns what it printed.
func (r Repository) Git(args ...string) string {
	r.T.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Octo Cat", "-c", "user.email=octocat@example.com", "-c",
		"core.autocrlf=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.T.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes files of the working tree.
func (r Repository) Write(files map[string]string) {
	r.T.Helper()
	for name, text := range files {
		name = filepath.Join(r.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			r.T.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			r.T.Fatal(err)
		}
	}
}

// Commit commits all that is in the working tree.
func (r Repository) Commit(message string) {
	r.T.Helper()
	r.Git("add", "-A", "-f")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
}

// Acquire checks the topic out as a reviewer's agent does.
func (r Repository) Acquire() *worktree.Tree {
	r.T.Helper()
	store := &worktree.Store{Root: r.T.TempDir()}
	tree, err := store.Acquire(r.T.Context(), worktree.Request{
		Remote: worktree.Remote{URL: "file://" + filepath.ToSlash(r.Dir)}, Repo: "acme/app", Number: 1, Role: "reviewer",
		Head: r.Git("rev-parse", "topic"), HeadRef: "refs/heads/topic", Base: r.Git("rev-parse", "main"), BaseRef: "refs/heads/main",
	})
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() {
		if err := tree.Release(); err != nil {
			r.T.Error(err)
		}
	})
	return tree
}
