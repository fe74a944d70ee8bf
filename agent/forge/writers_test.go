package forge_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
)

// TestWritersNameWhoPushed, long ago and without force, what somebody else wrote.
func TestWritersNameWhoPushed(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, first := w.open("topic")
	second := w.commit("topic", map[string]string{"second.go": "package main\n"})
	move := func(login, sha string, force bool) {
		t.Helper()
		to := &github.Reference{Ref: github.String("refs/heads/topic"), Object: &github.GitObject{SHA: &sha}}
		if _, _, err := w.As(login).Git.UpdateRef(t.Context(), app.Owner, app.Name, to, force); err != nil {
			t.Fatal(err)
		}
	}
	move(octocat, first, true)
	pr := w.read(ref)
	if writers, err := w.as(hubot).Writers(t.Context(), pr); err != nil || !slices.Equal(writers, []string{octocat}) {
		t.Errorf("before: %v, %v", writers, err)
	}
	move(hubot, second, false)
	for i := range 101 {
		w.commit("topic", map[string]string{"third.go": fmt.Sprintf("package main\n\nvar c = %d\n", i)})
	}
	if writers, err := w.as(hubot).Writers(t.Context(), w.read(ref)); err != nil || !slices.Contains(writers, hubot) {
		t.Errorf("after: %v, %v", writers, err)
	}
}
