package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/verdict/decide"
)

// TestLostBaseCallsAPerson: GitHub closes a pull request with its base branch while the author's agent is away.
// The agent calls a person once when it is back, and not again after another start.
func TestLostBaseCallsAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	_, err := w.Commit(w.Ctx, person, repo.String(), "release", "Release", map[string]string{"release.md": "Soon.\n"})
	w.must(err)
	ref := w.open("Search", map[string]string{"search.md": "fine\n"}, false)
	api := w.As(person)
	_, _, err = api.PullRequests.Edit(w.Ctx, owner, repo.Name, ref.Number,
		&github.PullRequest{Base: &github.PullRequestBranch{Ref: github.String("release")}})
	w.must(err)
	_, err = api.Git.DeleteRef(w.Ctx, owner, repo.Name, "heads/release")
	w.must(err)

	called := func() (n int) {
		comments, _, err := api.Issues.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
		w.must(err)
		for _, c := range comments {
			if strings.Contains(c.GetBody(), "restore release and reopen it, or open another pull request of its branch") {
				n++
			}
		}
		return n
	}
	labelled := func() bool {
		p, _, err := api.PullRequests.Get(w.Ctx, owner, repo.Name, ref.Number)
		w.must(err)
		return slices.ContainsFunc(p.Labels, func(l *github.Label) bool { return l.GetName() == "needs-human" })
	}
	m := w.agents[decide.Author]
	m.start()
	w.until("a person is called", func() bool { return called() == 1 && labelled() })
	m.halt()
	m.mu.Lock()
	m.looks = 0
	m.mu.Unlock()
	m.start()
	// Twice the lists of what is open and of what lost its base, and the pull request.
	w.until("the agent has looked again", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.looks >= 5 })
	m.halt()
	if n := called(); n != 1 {
		t.Errorf("a person was called %d times", n)
	}
}
