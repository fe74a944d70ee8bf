package verdict_test

import (
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

// The evidence of a merge says what it rested on, who let pass what was held, and what it lacked; a clock that jumped makes no
// length of time negative.
func TestEvidenceOfAMerge(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	m := verdict.Merge{
		SHA: "1234567890", By: "alice", At: at, OpenedAt: at.Add(time.Hour), Passed: []string{"build", "lint"}, Lacked: []string{"CI runs: slow"},
		Approvals: []verdict.Approval{{Head: "abcdefghij", By: "judge", Round: 2, URL: "https://github.test/r",
			Lifted: &verdict.Word{By: "walter", At: at, Why: "It burns.", BrokeGlass: true}}},
	}
	want := []verdict.Proof{
		{Text: "Merged as 1234567 by alice, 2026-11-23 12:00:00 UTC, 0s after it was opened"},
		{Text: "abcdefg was approved by judge in round 2", URL: "https://github.test/r"},
		{Text: "walter let it pass by breaking the glass, 2026-11-23 12:00:00 UTC It burns."},
		{Text: "these of its checks passed: build, lint"},
		{Text: "CI runs: slow", Lacks: true},
	}
	got := m.Evidence()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v\nwant %+v", got[i], want[i])
		}
	}
}

// A record is believed only as a reviewer posted it, on the commit and with the verdict that GitHub has.
func TestDoubtsAboutAPostedReview(t *testing.T) {
	record := verdict.Record{Verdict: verdict.Approve, Head: "aaa"}
	good := verdict.Posted{By: "Judge", Author: "alice", SHA: "aaa", State: "approved"}
	for want, change := range map[string]func(*verdict.Posted){
		"":                               func(*verdict.Posted) {},
		"is the author":                  func(p *verdict.Posted) { p.Author = "judge" },
		"is not one of the reviewers":    func(p *verdict.Posted) { p.By = "mallory" },
		"it was edited":                  func(p *verdict.Posted) { p.Edited = true },
		"posted, at 2026-11-23":          func(p *verdict.Posted) { p.Edited, p.EditedAt = true, time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC) },
		"it was dismissed":               func(p *verdict.Posted) { p.State = "DISMISSED" },
		"about aaa, while GitHub has it": func(p *verdict.Posted) { p.SHA = "bbb" },
		"says APPROVE, while GitHub has it as CHANGES_REQUESTED": func(p *verdict.Posted) { p.State = "changes_requested" },
	} {
		posted := good
		change(&posted)
		if got := posted.Doubt(record, []string{"judge"}); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", posted, got, want)
		}
	}
}
