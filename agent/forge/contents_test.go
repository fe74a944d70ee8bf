package forge_test

import (
	"errors"
	"slices"
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestFilesOfACommitAreListedByDirectory(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	sha := w.commit("topic", map[string]string{"docs/a.md": "A\n", "docs/b.txt": "B\n", "docs/below/c.md": "C\n"})
	w.Settle()
	client := w.as(octocat)
	repo := forge.Repo{Owner: "acme", Name: "app"}
	if got, err := client.Commit(t.Context(), repo, "topic"); err != nil || got != sha {
		t.Errorf("the commit is %s, %v; want %s", got, err, sha)
	}
	if got, err := client.Commit(t.Context(), repo, "HEAD"); err != nil || got == "" || got == sha {
		t.Errorf("the default branch is at %s, %v", got, err)
	}
	if got, err := client.Files(t.Context(), repo, sha, "docs"); err != nil || !slices.Equal(got, []string{"a.md", "b.txt"}) {
		t.Errorf("the files are %q, %v", got, err)
	}
	if _, err := client.Files(t.Context(), repo, sha, "none"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if _, err := client.Files(t.Context(), repo, sha, "docs/a.md"); !errors.Is(err, forge.ErrUnreadable) {
		t.Errorf("a file as a directory: %v", err)
	}
}
