package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/verdict/decide"
)

// refuse makes GitHub refuse one kind of call of the agents for good, and counts
// how often it was asked.
func (w *world) refuse(method, suffix string, status int) *atomic.Int64 {
	var n atomic.Int64
	w.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if r.UserAgent() == rest.ByHand || r.Method != method || !strings.HasSuffix(r.URL.Path, suffix) {
			return githubsim.Fault{}
		}
		n.Add(1)
		return githubsim.Fault{Status: status}
	})
	return &n
}

// TestRefusedActsEndWithAPerson makes GitHub always refuse an agent's act: the agent tries each act as often as
// the settings say, and then calls a person.
func TestRefusedActsEndWithAPerson(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, suffix string
		status         int
	}{
		"merge":              {"PUT", "/merge", http.StatusMethodNotAllowed},
		"push":               {"POST", "/git-receive-pack", http.StatusForbidden},
		"review":             {"POST", "/reviews", http.StatusUnprocessableEntity},
		"review, unfinished": {"POST", "/reviews", http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoDefects())
			asked := w.refuse(tc.method, tc.suffix, tc.status)
			w.startBoth()
			ref := w.openBad(false)
			w.until("a person is called", func() bool { return w.labelled(ref) })
			if got, most := asked.Load(), int64(w.agents[decide.Author].cfg.Rounds.Attempts); got > 2*most {
				t.Errorf("asked %d times, want about %d", got, most)
			}
			if w.merged(ref) {
				t.Error("it was merged")
			}
		})
	}
}

func (w *world) labelled(ref forge.Ref) bool {
	for _, name := range w.labels(ref) {
		if name == "needs-human" {
			return true
		}
	}
	return false
}

// TestApprovalIsForOneBase retargets an approved pull request, whose head then includes commits that nobody
// reviewed.
func TestApprovalIsForOneBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	_, err := w.Commit(w.Ctx, author, repo.String(), "staging", "Unreviewed", map[string]string{"evil.go": "package evil\n"})
	w.must(err)
	clone := t.TempDir()
	w.git(clone, "clone", "-q", "--branch", "staging", w.cloneURL(author), ".")
	w.git(clone, "switch", "-q", "-c", "feat")
	w.git(clone, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "Small")
	w.git(clone, "push", "-q", "origin", "feat")
	pr, _, err := w.As(author).PullRequests.Create(w.Ctx, owner, repo.Name, &github.NewPullRequest{
		Title: github.String("Small"), Head: github.String("feat"), Base: github.String("staging"), Body: github.String("It is small."),
	})
	w.must(err)
	ref := forge.Ref{Repo: repo, Number: pr.GetNumber()}
	_, _, err = w.As(author).PullRequests.RequestReviewers(w.Ctx, owner, repo.Name, ref.Number,
		github.ReviewersRequest{Reviewers: []string{reviewer}})
	w.must(err)
	w.agents[decide.Reviewer].start()
	w.until("the small change is approved", func() bool { return len(w.reviews(ref)) == 1 })
	w.agents[decide.Reviewer].halt()
	_, _, err = w.As(author).PullRequests.Edit(w.Ctx, owner, repo.Name, ref.Number,
		&github.PullRequest{Base: &github.PullRequestBranch{Ref: github.String("main")}})
	w.must(err)

	w.agents[decide.Author].start()
	w.until("the author agent looked", func() bool { return w.looked(decide.Author) })
	w.Settle()
	if w.merged(ref) {
		t.Fatal("merged into main on an approval for staging")
	}
	w.agents[decide.Reviewer].start()
	w.until("reviewed against main and merged", func() bool { return w.merged(ref) })
	if got := len(w.reviews(ref)); got != 2 {
		t.Errorf("%d reviews, want one for each base", got)
	}
}

// TestDismissedReviewIsRepeatedOnRequest dismisses an approval: nothing is merged until the review is requested
// again, which is all that is needed.
func TestDismissedReviewIsRepeatedOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	w.agents[decide.Reviewer].start()
	ref := w.openBad(false)
	w.until("reviewed", func() bool { return len(w.reviews(ref)) == 1 })
	_, _, err := w.As(admin).PullRequests.DismissReview(w.Ctx, owner, repo.Name, ref.Number, w.reviews(ref)[0].GetID(),
		&github.PullRequestReviewDismissalRequest{Message: github.String("Look again.")})
	w.must(err)
	w.agents[decide.Author].start()
	w.until("the author agent looked", func() bool { return w.looked(decide.Author) })
	w.Settle()
	if w.merged(ref) {
		t.Fatal("merged on a dismissed approval")
	}
	_, _, err = w.As(author).PullRequests.RequestReviewers(w.Ctx, owner, repo.Name, ref.Number,
		github.ReviewersRequest{Reviewers: []string{reviewer}})
	w.must(err)
	w.until("merged", func() bool { return w.merged(ref) })
}

// TestRoundsAreCountedAnewForBoth exceeds the limit of rounds. Removing the label once is enough, whichever
// agent called a person.
func TestRoundsAreCountedAnewForBoth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	for _, m := range w.agents {
		m.cfg.Rounds.Max = 1
	}
	w.startBoth()
	ref := w.openBad(false)
	w.until("a person is called", func() bool { return w.labelled(ref) })
	_, err := w.As(person).Issues.RemoveLabelForIssue(w.Ctx, owner, repo.Name, ref.Number, "needs-human")
	w.must(err)
	w.until("merged", func() bool { return w.merged(ref) })
	comments, _, err := w.As(admin).Issues.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
	w.must(err)
	if len(comments) != 1 {
		t.Errorf("%d people were called, want one", len(comments))
	}
}
