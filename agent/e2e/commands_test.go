package e2e

import (
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// say comments on a pull request in somebody's name.
func (w *world) say(login string, ref forge.Ref, text string) {
	w.t.Helper()
	_, _, err := w.As(login).Issues.CreateComment(w.Ctx, owner, repo.Name, ref.Number, &github.IssueComment{Body: github.String(text)})
	w.must(err)
}

// objected is a pull request in which the reviewer, the only agent at work, has
// found two things.
func objected(t *testing.T) (*world, forge.Ref, verdict.Ledger) {
	w := newWorld(t, twoDefects())
	w.agents[decide.Reviewer].start()
	ref := w.openBad(false)
	w.until("reviewed", func() bool { return len(w.records(ref)) == 1 })
	ledger := w.records(ref)[0].Ledger
	if len(ledger) != 2 {
		t.Fatalf("it found %+v", ledger)
	}
	return w, ref, ledger
}

func TestStopAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	ref := w.openBad(false)
	w.say(person, ref, "/touchstone stop\n\nI want to look at it first.")
	w.startBoth()
	w.Settle()
	w.until("both agents looked", func() bool { return w.looked(decide.Reviewer) && w.looked(decide.Author) })
	if n := len(w.reviews(ref)); n != 0 {
		t.Fatalf("%d reviews of what was stopped", n)
	}
	w.say(person, ref, "/touchstone resume")
	w.finished(ref, 2)
}

func TestWaivedFindingsPass(t *testing.T) {
	t.Parallel()
	w, ref, ledger := objected(t)
	for _, e := range ledger {
		w.say(person, ref, "/touchstone waive "+e.ID+" walter may push, but not maintain")
	}
	w.Settle()
	w.until("the reviewer looked", func() bool { return w.looked(decide.Reviewer) })
	if n := len(w.records(ref)); n != 1 {
		t.Fatalf("%d reviews after waivers that nobody may give", n)
	}
	for _, e := range ledger {
		w.say(admin, ref, "/touchstone waive "+e.ID+" it is our own input")
	}
	w.until("approved", func() bool { return len(w.records(ref)) == 2 })
	record := w.records(ref)[1]
	if record.Verdict != verdict.Approve || record.Lifted != nil || len(record.Ledger) != 2 {
		t.Fatalf("the record is %+v", record)
	}
	for _, e := range record.Ledger {
		if e.Status != verdict.Waived || e.Said == nil || e.Said.By != admin || e.Said.Why != "it is our own input" {
			t.Errorf("it was waived by %+v", e.Said)
		}
	}
	w.agents[decide.Author].start()
	w.until("merged", func() bool { return w.merged(ref) })
}

func TestBrokenGlassPassesOverFindings(t *testing.T) {
	t.Parallel()
	w, ref, _ := objected(t)
	w.say(admin, ref, "/touchstone break-glass production is down")
	w.until("approved", func() bool { return len(w.records(ref)) == 2 })
	record := w.records(ref)[1]
	if record.Lifted == nil || !record.Lifted.BrokeGlass || record.Lifted.By != admin || record.Lifted.Why != "production is down" {
		t.Fatalf("the record is %+v", record)
	}
	w.agents[decide.Author].start()
	w.until("merged", func() bool { return w.merged(ref) })
}

// A dispute and the order to review have the same head judged again.
func TestDisputeAndReviewAreJudgedAgain(t *testing.T) {
	t.Parallel()
	w, ref, ledger := objected(t)
	w.say(author, ref, "/touchstone dispute "+ledger[0].ID+" it is bound above")
	w.until("judged again", func() bool { return len(w.records(ref)) == 2 })
	again := w.records(ref)[1]
	if again.Head != w.records(ref)[0].Head || again.Verdict != verdict.RequestChanges || again.Ledger[0].Status != verdict.Open ||
		again.Ledger[0].Said == nil {
		t.Errorf("the record is %+v", again)
	}
	w.say(person, ref, "/touchstone review")
	w.until("reviewed a third time", func() bool { return len(w.records(ref)) == 3 })
}
