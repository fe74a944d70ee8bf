package compose

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/verdict/decide"
)

// TestWhatAKilledSessionLeftDoesNotStopTheAgent starts an agent after one that was killed during a session,
// whose build had left a directory without write permission, as a module cache does. (As root this always
// works.)
func TestWhatAKilledSessionLeftDoesNotStopTheAgent(t *testing.T) {
	cfg := config.Default()
	cfg.StateDir, cfg.Repositories, cfg.GitHub.Token = t.TempDir(), []string{"acme/app"}, ""
	left := filepath.Join(cfg.StateDir, "tmp", "reviewer", "touchstone-1")
	locked := filepath.Join(left, "mod", "dep@v1")
	if err := os.MkdirAll(locked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(locked, "dep.go"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	_, _, err := New(t.Context(), cfg, decide.Reviewer)
	if _, there := os.Lstat(left); !os.IsNotExist(there) {
		t.Errorf("it is still there: %v; the agent says %v", there, err)
	}
}

// TestARepositoryInTwoSpellingsIsOne checks that an agent does not look after each of its pull requests twice.
func TestARepositoryInTwoSpellingsIsOne(t *testing.T) {
	t.Parallel()
	repos, err := Repositories(config.Config{Repositories: []string{"acme/app", "Acme/App", "acme/web", "acme/app"}})
	if want := []forge.Repo{{Owner: "acme", Name: "app"}, {Owner: "acme", Name: "web"}}; err != nil || !slices.Equal(repos, want) {
		t.Errorf("%v, %v", repos, err)
	}
}
