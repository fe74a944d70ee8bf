package forge_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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

// TestALinkToAFileIsListed uses the form of GitHub's answer
// (https://docs.github.com/rest/repos/contents#get-repository-content).
func TestALinkToAFileIsListed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `[{"type":"file","name":"a.md","path":"docs/a.md"},{"type":"symlink","name":"b.md","path":"docs/b.md"},
			{"type":"dir","name":"below","path":"docs/below"}]`)
	}))
	defer server.Close()
	client, err := forge.New(forge.Config{APIURL: server.URL + "/", Token: "the-token-of-this-test"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := client.Files(t.Context(), forge.Repo{Owner: "acme", Name: "app"}, "main", "docs")
	if err != nil || !slices.Equal(files, []string{"a.md", "b.md"}) {
		t.Errorf("the files are %q, %v", files, err)
	}
}

// TestALinkToAFileIsNotFollowed uses GitHub's answer, which has the hash of the link and the content of its target, as in
// https://github.com/hub4j/github-api/tree/main/src/test/resources/org/kohsuke/github/GHContentIntegrationTest/wiremock.
func TestALinkToAFileIsNotFollowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"type":"file","name":"a-symlink-to-a-file","path":"ghcontent-ro/a-symlink-to-a-file","size":22,
			"sha":"dbb84a81d2b1b5eb4077c9b72b7497eb16ed9bf6","content":"dGhhbmtzIGZvciByZWFkaW5nIG1lCg==\n","encoding":"base64"}`)
	}))
	defer server.Close()
	client, err := forge.New(forge.Config{APIURL: server.URL + "/", Token: "the-token-of-this-test"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := client.File(t.Context(), forge.Repo{Owner: "acme", Name: "app"}, "main", "ghcontent-ro/a-symlink-to-a-file")
	if !errors.Is(err, forge.ErrUnreadable) || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("the link reads as %q, %v", text, err)
	}
}
