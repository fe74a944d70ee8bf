package forge_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestPostedReviewsAreReadBack(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, sha := w.open("topic")
	first, err := w.post(ref, sha, forge.RequestChanges, "Not yet.",
		forge.ReviewComment{Path: "topic.go", Line: 4, Body: "Why 1?"},
		forge.ReviewComment{Path: "topic.go", StartLine: 4, Line: 5, Body: "Why these?"})
	if err != nil || first.Kept != 2 || first.ID == 0 || first.URL == "" {
		t.Fatalf("posted %+v, %v; want both comments kept", first, err)
	}
	remarks, err := w.as(octocat).ReviewRemarks(t.Context(), ref, first.ID)
	if err != nil || !slices.Equal(remarks, []string{"Why 1?", "Why these?"}) {
		t.Errorf("remarks %+v, %v", remarks, err)
	}
	second := w.commit("topic", map[string]string{"topic.go": "package main\n"})
	w.Settle()
	if _, err := w.post(ref, second, forge.Approve, "Now it is."); err != nil {
		t.Fatal(err)
	}
	if _, err := w.post(ref, sha, forge.Approve, "As it was before."); err != nil {
		t.Fatal(err)
	}

	pr := w.read(ref)
	if len(pr.Reviews) != 3 || pr.Head.SHA != second {
		t.Fatalf("head %s, reviews %+v; want three at %s", pr.Head.SHA, pr.Reviews, second)
	}
	for i, want := range []forge.SubmittedReview{
		{ID: first.ID, State: forge.ChangesRequested, Body: "Not yet.", SHA: sha, URL: first.URL},
		{State: forge.Approved, Body: "Now it is.", SHA: second},
		{State: forge.Approved, Body: "As it was before.", SHA: sha},
	} {
		got := pr.Reviews[i]
		if got.State != want.State || got.Body != want.Body || got.SHA != want.SHA || got.Author.Login != hubot || got.SubmittedAt.IsZero() ||
			got.EditedAt != nil {
			t.Errorf("review %d is %+v; want %+v", i, got, want)
		}
		if want.ID != 0 && (got.ID != want.ID || got.URL != want.URL) {
			t.Errorf("review %d is %+v; want %+v", i, got, want)
		}
	}
}

func TestReviewsThatGitHubRefuses(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, sha := w.open("topic")
	if _, err := w.post(ref, sha, forge.RequestChanges, "Look:",
		forge.ReviewComment{Path: "topic.go", Line: 4, Body: "fine"},
		forge.ReviewComment{Path: "main.go", Line: 400, Body: "no such line"}); !errors.Is(err, forge.ErrBadAnchor) {
		t.Errorf("a line outside the diff: %v", err)
	}
	own := forge.NewPoster(w.as(octocat))
	for _, event := range []string{forge.Approve, forge.RequestChanges} {
		if _, err := own.PostReview(t.Context(), ref, forge.Review{SHA: sha, Event: event, Body: "I like it."}); !errors.Is(err,
			forge.ErrSelfReview) || !strings.Contains(err.Error(), "two different accounts") {
			t.Errorf("%s of one's own: %v", event, err)
		}
	}
	if pr := w.read(ref); len(pr.Reviews) != 0 {
		t.Errorf("reviews %+v; want none after refusals", pr.Reviews)
	}
}

// TestRequiredChecksAreNamedBeforeTheyReport reads them from the protection of the base.
func TestRequiredChecksAreNamedBeforeTheyReport(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {RequiredChecks: []string{"test", "lint"}}}})
	ref, _ := w.open("topic")
	if pr := w.read(ref); !slices.Equal(pr.Requires, []string{"test", "lint"}) || len(pr.Checks) > 0 {
		t.Errorf("%q are required, and reported are %+v", pr.Requires, pr.Checks)
	}
}

func TestOnlyTheApprovedHeadIsSquashed(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {Approvals: 1}}})
	ref, old := w.open("topic")
	sha := w.commit("topic", map[string]string{"more.go": "package main\n"})
	w.Settle()
	merger := forge.NewMerger(w.as(octocat))
	squash := func(sha string) (string, error) {
		return merger.SquashMerge(t.Context(), ref, forge.SquashRequest{SHA: sha, Title: "Add topic (#1)", Body: "All of it."})
	}
	if _, err := squash(sha); !errors.Is(err, forge.ErrApprovalRequired) {
		t.Errorf("without an approval: %v", err)
	}
	if _, err := w.post(ref, sha, forge.Approve, "Good."); err != nil {
		t.Fatal(err)
	}
	if _, err := squash(old); !errors.Is(err, forge.ErrHeadMoved) {
		t.Errorf("of an older head: %v", err)
	}
	w.SetFaults(githubsim.Faults{MoveBase: 1})
	if _, err := squash(sha); !errors.Is(err, forge.ErrBaseMoved) {
		t.Errorf("while the base moves: %v", err)
	}
	w.Settle()
	merged, err := squash(sha)
	if err != nil {
		t.Fatal(err)
	}
	pr := w.read(ref)
	if !pr.Merged || pr.Open || pr.MergeSHA != merged || pr.Base.SHA != merged {
		t.Errorf("merged as %s; the pull request says merged %t, open %t, as %s, base %+v", merged, pr.Merged, pr.Open, pr.MergeSHA, pr.Base)
	}
	commit, _, err := w.As(octocat).Git.GetCommit(t.Context(), app.Owner, app.Name, merged)
	if err != nil || strings.TrimSpace(commit.GetMessage()) != "Add topic (#1)\n\nAll of it." || len(commit.Parents) != 1 {
		t.Errorf("message %q, %d parents, %v", commit.GetMessage(), len(commit.Parents), err)
	}
	if _, err := squash(sha); !errors.Is(err, forge.ErrNotMergeable) {
		t.Errorf("twice: %v", err)
	}
}

func TestALostAnswerOfAWriteIsNotRepeated(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, sha := w.open("topic")
	var posts atomic.Int32
	w.Intercept(func(login string, r *http.Request) githubsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/reviews") {
			posts.Add(1)
			return githubsim.Fault{Drop: githubsim.DropAfter}
		}
		return githubsim.Fault{}
	})
	if _, err := w.post(ref, sha, forge.Approve, "Good."); !errors.Is(err, forge.ErrUnavailable) {
		t.Errorf("error %v; want ErrUnavailable", err)
	}
	if pr := w.read(ref); len(pr.Reviews) != 1 || posts.Load() != 1 {
		t.Errorf("sent %d times, %d reviews; want one and one", posts.Load(), len(pr.Reviews))
	}
}
