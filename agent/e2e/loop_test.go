package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/config"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func TestHappyLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	w.conclude = func(dir string) string {
		code, err := os.ReadFile(filepath.Join(dir, "store", "search.go"))
		if err == nil && strings.Contains(string(code), "unsafe()") {
			return "failure"
		}
		return "success"
	}
	w.startBoth()
	ref := w.openBad(false)
	w.finished(ref, 2)

	if got := w.file("main", "store/search.go"); strings.Contains(got, "unsafe()") || strings.Contains(got, "vauge") {
		t.Errorf("main holds what the review objected to:\n%s", got)
	}
	first, second := w.reviews(ref)[0], w.reviews(ref)[1]
	if first.GetState() != "CHANGES_REQUESTED" || second.GetState() != "APPROVED" {
		t.Errorf("reviews are %s, %s", first.GetState(), second.GetState())
	}
	record, err := verdict.ParseRecord(second.GetBody())
	if err != nil {
		t.Fatal(err)
	}
	if record.Round != 2 || len(record.Ledger) != 2 || len(record.Ledger.Outstanding()) != 0 {
		t.Errorf("the second review's record is %+v", record)
	}
	comments, _, err := w.As(admin).PullRequests.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
	w.must(err)
	answers := 0
	for _, c := range comments {
		if c.GetInReplyTo() != 0 && strings.HasPrefix(c.GetBody(), "Changed in "+second.GetCommitID()+": ") {
			answers++
		}
	}
	if len(comments) != 4 || answers != 2 {
		t.Errorf("%d comments on lines, %d of them answers, want one of each for each finding", len(comments), answers)
	}
}

func TestDraftWaitsUntilItIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	w.startBoth()
	ref := w.openBad(true)
	// The agents have seen the draft when their looks have gone through.
	w.until("both agents looked at the draft", func() bool { return w.looked(decide.Reviewer) && w.looked(decide.Author) })
	if n := len(w.reviews(ref)); n != 0 {
		t.Fatalf("%d reviews of a draft", n)
	}
	w.graphql(author, `mutation($id:ID!){markPullRequestReadyForReview(input:{pullRequestId:$id}){pullRequest{number}}}`,
		map[string]any{"id": w.pull(ref).GetNodeID()})
	w.finished(ref, 1)
}

func TestPushDuringReviewCancelsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(twoDefects(), decide.Reviewer, "hang"))
	w.agents[decide.Reviewer].start()
	ref := w.openBad(false)
	w.until("the first session runs", func() bool { return w.sessions(decide.Reviewer) == 1 })
	old := w.pull(ref).GetHead().GetSHA()
	sha, err := w.Commit(w.Ctx, author, repo.String(), "search", "Rewrite", map[string]string{"store/search.go": "package store\n"})
	w.must(err)
	w.until("the newer head is reviewed", func() bool { return len(w.reviews(ref)) == 1 })
	if got := w.reviews(ref)[0].GetCommitID(); got != sha {
		t.Errorf("reviewed %s, want %s and never %s", got, sha, old)
	}
	w.checkInvariants(ref)
}

func TestPushBetweenApprovalAndMergeIsNotMergedUnreviewed(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]githubsim.Faults{"head": {MoveHead: 1}, "base": {MoveBase: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]any{})
			w.SetFaults(faults)
			w.startBoth()
			ref := w.openBad(false)
			w.until("merged", func() bool { return w.merged(ref) })
			w.checkInvariants(ref)
		})
	}
}

func TestEventsAreOnlyHints(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]githubsim.Faults{
		"duplicated": {DuplicateDeliveries: 1000},
		"shuffled":   {ShuffleDeliveries: 3},
		"late":       {DeliveryDelayMS: 40},
		"lost":       {LoseDeliveries: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoDefects())
			w.SetFaults(faults)
			// What never arrives is found by the sweep.
			for _, m := range w.agents {
				m.cfg.Sweep = config.Duration(100 * time.Millisecond)
			}
			w.startBoth()
			w.finished(w.openBad(false), 2)
		})
	}
}

func TestGitHubMisbehaves(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubsim.Fault{
		"server errors":    {Status: http.StatusBadGateway},
		"cut connections":  {Drop: githubsim.DropBefore},
		"lost answers":     {Drop: githubsim.DropAfter},
		"rate limited 403": {Status: http.StatusForbidden, RetryAfter: time.Second},
		"rate limited 429": {Status: http.StatusTooManyRequests, RetryAfter: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoDefects())
			w.startBoth()
			ref := w.openBad(false)
			for _, m := range w.agents {
				m.trouble(fault, 4)
			}
			w.finished(ref, 2)
		})
	}
	t.Run("mergeability unknown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, twoDefects())
		w.SetFaults(githubsim.Faults{NullMergeable: 5})
		w.startBoth()
		w.finished(w.openBad(false), 2)
	})
}

func TestRelayAwayForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	w.startBoth()
	w.relay.stop()
	// Deliveries fail now and GitHub does not repeat them.
	ref := w.openBad(false)
	w.Settle()
	w.startRelay()
	// No event tells of the pull request; that the relay is back makes both look.
	w.finished(ref, 2)
}

func TestMissingMarkerRequestsChanges(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"no-marker", "wrong-nonce", "bad-json"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			// A session whose answer cannot be used is asked once more.
			w := newWorld(t, with(map[string]any{}, decide.Reviewer, fault, fault))
			w.agents[decide.Reviewer].start()
			ref := w.open("Fine", map[string]string{"fine.txt": "fine\n"}, false)
			w.until("a review", func() bool { return len(w.reviews(ref)) == 1 })
			if got := w.reviews(ref)[0].GetState(); got != "CHANGES_REQUESTED" {
				t.Errorf("a session without a valid answer ended in %s", got)
			}
		})
	}
}

func TestEngineCrashIsInconclusive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(twoDefects(), decide.Reviewer, "crash", "crash"))
	w.startBoth()
	ref := w.openBad(false)
	w.finished(ref, 2)
	if got := w.sessions(decide.Reviewer); got != 4 {
		t.Errorf("%d reviewing sessions, want two that crashed and two that did not", got)
	}
}

func TestSessionsThatFailCallAPersonAndMergeNothing(t *testing.T) {
	t.Parallel()
	idle := []string{"no-change", "no-change"} // an author's session is told and goes on once
	for name, faults := range map[string][2][]string{
		"the reviewer's engine crashes": {{"crash", "crash", "crash"}, nil},
		"the author changes nothing":    {nil, slices.Concat(idle, idle, idle)},
		"the author's engine crashes":   {nil, slices.Concat([]string{"crash"}, idle, []string{"crash"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, with(with(twoDefects(), decide.Reviewer, faults[0]...), decide.Author, faults[1]...))
			w.startBoth()
			ref := w.openBad(false)
			w.until("a person is called", func() bool { return slices.Contains(w.labels(ref), "needs-human") })
			comments, _, err := w.As(admin).Issues.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
			w.must(err)
			if len(comments) != 1 || !strings.Contains(comments[0].GetBody(), "To continue:") {
				t.Fatalf("comments are %s", github.Stringify(comments))
			}
			if w.merged(ref) {
				t.Fatal("it was merged")
			}
			// Taking the label off is all it takes to go on.
			_, err = w.As(person).Issues.RemoveLabelForIssue(w.Ctx, owner, repo.Name, ref.Number, "needs-human")
			w.must(err)
			w.finished(ref, 2)
		})
	}
}

func TestSameIdentityIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	m := w.configure(decide.Author, reviewer)
	if err := m.launch(); err == nil || !strings.Contains(err.Error(), "another login's token") {
		t.Errorf("the author agent started with the reviewer's identity: %v", err)
	}
	m = w.configure(decide.Reviewer, author)
	if err := m.launch(); err == nil || !strings.Contains(err.Error(), "reviewer's own token") {
		t.Errorf("the reviewer agent started with the author's identity: %v", err)
	}
}

func TestPersonRequestingChangesStopsTheMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	w.conclude = func(string) string { return "success" }
	ref := w.openBad(false)
	_, _, err := w.As(person).PullRequests.CreateReview(w.Ctx, owner, repo.Name, ref.Number,
		&github.PullRequestReviewRequest{Event: github.String("REQUEST_CHANGES"), Body: github.String("Wait for me.")})
	w.must(err)
	w.startBoth()
	w.until("approved", func() bool { return len(w.reviews(ref)) == 2 })
	w.Settle()
	w.until("the author agent looked", func() bool { return w.looked(decide.Author) })
	if w.merged(ref) {
		t.Fatal("merged over a person's objection")
	}
	_, _, err = w.As(person).PullRequests.CreateReview(w.Ctx, owner, repo.Name, ref.Number,
		&github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	w.must(err)
	w.until("merged", func() bool { return w.merged(ref) })
}
