package enginetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Worktree makes a repository with these files, by path, in one commit, and returns a linked worktree of it.
func Worktree(t testing.TB, files map[string]string) string {
	t.Helper()
	repository := t.TempDir()
	for name, content := range files {
		Write(t, filepath.Join(repository, name), content)
	}
	dir := filepath.Join(t.TempDir(), "worktree")
	Git(t, repository, "init", "--quiet")
	Git(t, repository, "add", ".")
	Git(t, repository, "-c", "user.name=octocat", "-c", "user.email=octocat@example.com", "commit", "--quiet", "-m", "HOSTILE-COMMIT-MESSAGE")
	Git(t, repository, "worktree", "add", "--quiet", "-b", "topic", dir)
	return dir
}

// Git runs git in a directory and returns what it prints.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Write writes an executable file, and makes the directories above it.
func Write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}
