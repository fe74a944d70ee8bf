package schedule

import (
	"slices"
	"testing"
	"time"

	"touchstone/agent/e2e/arena"
	"touchstone/verdict"
)

// TestViolationsAreSeen checks that violations are reported, because the schedules of this package have none.
func TestViolationsAreSeen(t *testing.T) {
	const head, other = "0123456789", "abcdef0123"
	by := func(login, state, sha string, record *verdict.Record) arena.Post {
		r := arena.Post{State: state, CommitID: sha}
		r.User.Login = login
		if record != nil {
			seal, err := record.Seal(verdict.Signer{})
			if err != nil {
				t.Fatal(err)
			}
			r.Body = "Read.\n\n" + seal
		}
		return r
	}
	approve := func(sha string) *verdict.Record {
		return &verdict.Record{Verdict: verdict.Approve, Head: sha, BaseBranch: "main"}
	}
	merged := arena.Pull{Merged: true}
	merged.Head.SHA, merged.Base.Ref = head, "main"
	object := &verdict.Record{Verdict: verdict.RequestChanges, Head: head, Holds: []verdict.Hold{{Kind: verdict.QualityBar}}}
	for name, tc := range map[string]struct {
		reviews  []arena.Post
		want     []string
		silenced map[int64]bool
	}{
		"approved and merged": {[]arena.Post{by("judge", "APPROVED", head, approve(head))}, nil, nil},
		"merged on an approval of another head": {[]arena.Post{by("judge", "APPROVED", other, approve(other))},
			[]string{"0123456 was merged and never approved"}, nil},
		"merged on a record of another head": {[]arena.Post{by("judge", "APPROVED", head, approve(other))},
			[]string{"0123456 was merged and never approved"}, nil},
		"held and let pass": {[]arena.Post{by("judge", "CHANGES_REQUESTED", head, object), by("walter", "APPROVED", head, nil),
			by("judge", "APPROVED", head, &verdict.Record{Verdict: verdict.Approve, Head: head, BaseBranch: "main", Holds: object.Holds,
				Lifted: &verdict.Word{By: "walter"}})}, nil, nil},
		"held, and let pass at another head": {[]arena.Post{by("walter", "APPROVED", other, nil),
			by("judge", "APPROVED", head, &verdict.Record{Verdict: verdict.Approve, Head: head, BaseBranch: "main", Holds: object.Holds,
				Lifted: &verdict.Word{By: "walter"}})},
			[]string{"0123456 was merged without the person that it was held for"}, nil},
		"reviewed twice": {[]arena.Post{by("judge", "APPROVED", head, approve(head)), by("judge", "APPROVED", head, approve(head))},
			[]string{"0123456 was reviewed 2 times"}, nil},
		"a review without a record": {[]arena.Post{by("judge", "APPROVED", head, approve(head)), by("judge", "COMMENTED", head, nil)},
			[]string{"a review of 0123456 has no record: " + verdict.ErrNoRecord.Error()}, nil},
		"merged into another branch": {[]arena.Post{by("judge", "APPROVED", head,
			&verdict.Record{Verdict: verdict.Approve, Head: head, BaseBranch: sandbox})},
			[]string{"0123456 was merged into main and approved for sandbox"}, nil},
		"merged on an approval that a person edited or dismissed": {[]arena.Post{by("judge", "APPROVED", head, approve(head))},
			[]string{"0123456 was merged and never approved"}, map[int64]bool{0: true}},
	} {
		w := &world{result: &Result{}, silenced: tc.silenced}
		w.checkReviews(tc.reviews, func(_, _ verdict.Record) bool { return false })
		w.checkMerge(merged, tc.reviews)
		if !slices.Equal(w.result.Violations, tc.want) {
			t.Errorf("%s: %q, want %q", name, w.result.Violations, tc.want)
		}
	}
}

// TestADroppedFixIsLetGoByWhoKnew: breaking the glass lets a fix go only if a review of that head named it
// before.
func TestADroppedFixIsLetGoByWhoKnew(t *testing.T) {
	const head, other = "0123456789", "abcdef0123"
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		claim, sha string
		word       verdict.Word
		want       bool
	}{
		"named before":          {drops, head, verdict.Word{By: "acme", At: noon.Add(time.Minute), BrokeGlass: true}, true},
		"named after":           {drops, head, verdict.Word{By: "acme", At: noon.Add(-time.Minute), BrokeGlass: true}, false},
		"named of another head": {drops, other, verdict.Word{By: "acme", At: noon.Add(time.Minute), BrokeGlass: true}, false},
		"not named":             {"It is unsafe.", head, verdict.Word{By: "acme", At: noon.Add(time.Minute), BrokeGlass: true}, false},
		"by somebody else":      {drops, head, verdict.Word{By: "walter", At: noon.Add(time.Minute), BrokeGlass: true}, false},
		"by an approval":        {drops, head, verdict.Word{By: "acme", At: noon.Add(time.Minute)}, false},
	} {
		said := verdict.Record{Verdict: verdict.RequestChanges, Head: tc.sha,
			Ledger: verdict.Ledger{{ID: "0badcafe", Severity: verdict.Critical, Status: verdict.Open, Claim: tc.claim}}}
		seal, err := said.Seal(verdict.Signer{})
		if err != nil {
			t.Fatal(err)
		}
		r := arena.Post{State: "CHANGES_REQUESTED", CommitID: tc.sha, Body: "Read.\n\n" + seal, SubmittedAt: noon}
		r.User.Login = "judge"
		if got := letGo([]arena.Post{r}, verdict.Record{Head: head, Lifted: &tc.word}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
