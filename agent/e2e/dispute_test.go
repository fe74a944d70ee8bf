package e2e

import (
	"slices"
	"strings"
	"testing"

	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// A dispute is judged once before a person is called. A person is called only if the dispute fails.
func TestADisputeIsJudgedBeforeAPersonIsCalled(t *testing.T) {
	t.Parallel()
	t.Run("it holds", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, with(with(twoDefects(), decide.Author, "dispute"), decide.Reviewer, "", "withdraw"))
		w.startBoth()
		ref := w.openBad(false)
		w.until("merged", func() bool { return w.merged(ref) })
		reviews := w.reviews(ref)
		record, err := verdict.ParseRecord(reviews[1].GetBody())
		w.must(err)
		if reviews[0].GetCommitID() != reviews[1].GetCommitID() ||
			slices.ContainsFunc(record.Ledger, func(e verdict.Entry) bool { return e.Status != verdict.Withdrawn }) {
			t.Errorf("the second review is of %s and says %+v", reviews[1].GetCommitID(), record.Ledger)
		}
		comments, _, err := w.As(admin).PullRequests.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
		w.must(err)
		if n := len(comments); n != 4 || !strings.HasPrefix(comments[n-1].GetBody(), "Withdrawn: ") {
			t.Errorf("the threads do not say why: %d comments, the last %q", n, comments[n-1].GetBody())
		}
		if slices.Contains(w.labels(ref), "needs-human") || strings.Contains(reviews[1].GetBody(), "fixed") {
			t.Errorf("a person was called, or what was withdrawn was called fixed:\n%s", reviews[1].GetBody())
		}
	})
	t.Run("it does not", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, with(twoDefects(), decide.Author, "dispute", "dispute"))
		w.startBoth()
		ref := w.openBad(false)
		w.until("a person is called", func() bool { return slices.Contains(w.labels(ref), "needs-human") })
		if n := len(w.reviews(ref)); n != 2 || w.sessions(decide.Author) != 2 {
			t.Errorf("%d reviews and %d fixes before a person was called, want 2 of each", n, w.sessions(decide.Author))
		}
		comments, _, err := w.As(admin).Issues.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
		w.must(err)
		first, _, _ := strings.Cut(comments[len(comments)-1].GetBody(), "\n")
		if len(comments) != 2 || first != "### A person is needed: settle 2 findings, then comment `/touchstone resume`" {
			t.Errorf("%d comments, the call begins %q", len(comments), first)
		}
	})
}
