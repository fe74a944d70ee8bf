package verdict

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const head = "4f1c0de"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ledgerOf has an entry of each status, whose ids are the statuses.
func ledgerOf(all ...Status) Ledger {
	var l Ledger
	for _, s := range all {
		l = append(l, Entry{ID: string(s), Claim: string(s), Status: s, Severity: Major})
	}
	return l
}

func TestCommitsClaimAndDisputeFindings(t *testing.T) {
	const reviewed = "Apply review\n\nTouchstone-Reviewed: 4f1c0de\n"
	for name, tt := range map[string]struct {
		messages []string
		want     string
	}{
		"none": {nil, "open regressed verified waived"},
		"fixed": {[]string{reviewed + "Touchstone-Findings: open, regressed\n"},
			"claimed-fixed claimed-fixed verified waived"},
		"line ends of Windows": {[]string{strings.ReplaceAll(reviewed+"Touchstone-Findings: open\n", "\n", "\r\n")},
			"claimed-fixed regressed verified waived"},
		"disputed": {[]string{reviewed + "Touchstone-Disputed: open it is bound above\n"}, "disputed regressed verified waived"},
		"what is settled already": {[]string{reviewed + "Touchstone-Findings: verified, waived, unknown,,\n"},
			"open regressed verified waived"},
		"the review of another one": {[]string{"Touchstone-Reviewed: 0ddba11\nTouchstone-Findings: open"}, "open regressed verified waived"},
		"no review named":           {[]string{"Touchstone-Findings: open"}, "open regressed verified waived"},
		"named in another commit":   {[]string{reviewed, "Touchstone-Findings: open"}, "open regressed verified waived"},
		"in the middle of a line":   {[]string{reviewed + "see Touchstone-Findings: open"}, "open regressed verified waived"},
	} {
		before := ledgerOf(Open, Regressed, Verified, Waived)
		var got []string
		for _, e := range before.Claimed(head, tt.messages) {
			got = append(got, string(e.Status))
		}
		if all := strings.Join(got, " "); all != tt.want {
			t.Errorf("%s: %s, want %s", name, all, tt.want)
		}
		if before[0].Status != Open {
			t.Errorf("%s: the ledger it started from was changed", name)
		}
	}
	l := ledgerOf(Open).Claimed(head, []string{reviewed + "Touchstone-Disputed: open " + strings.Repeat("because ", 200)})
	if said := l[0].Said; said == nil || !strings.HasPrefix(said.Why, "because because") || len(said.Why) > MaxReason {
		t.Errorf("it was disputed with %+v", said)
	}
}

func TestLedgerFollowsOrders(t *testing.T) {
	orders := []Command{
		{ID: 7, Verb: Waive, Finding: "open", By: "hubot", At: noon.Add(-time.Hour), Reason: "was heard, and had no right to it"},
		{ID: 9, Verb: Waive, Finding: "regressed", By: "mona", At: noon.Add(-time.Hour), Reason: "ours"},
		{ID: 9, Verb: Dispute, Finding: "open", By: "octocat", At: noon.Add(time.Hour), Reason: "bound above"},
		{ID: 8, Verb: Dispute, Finding: "claimed-fixed", By: "octocat", At: noon, Reason: "judged already"},
		{ID: 10, Verb: Waive, Finding: "verified", By: "mona", At: noon, Reason: "gone"},
		{ID: 11, Verb: Stop, By: "mona", At: noon},
	}
	l := ledgerOf(Open, Regressed, ClaimedFixed, Verified)
	got := statuses(l.WithOrders(orders, 8, time.Time{}))
	if got != "open:disputed regressed:waived claimed-fixed:claimed-fixed verified:verified" {
		t.Errorf("after the orders: %s", got)
	}
	ordered := l.WithOrders(orders, 8, time.Time{})
	if said := ordered[1].Said; said == nil || *said != (Said{By: "mona", At: noon.Add(-time.Hour), Why: "ours"}) || l[1].Said != nil {
		t.Errorf("it was waived by %+v", said)
	}
	if out := ordered.Outstanding(); len(out) != 2 {
		t.Errorf("what stands is %+v", out)
	}
	got = statuses(l.WithOrders(orders, 8, noon))
	if got != "open:disputed regressed:regressed claimed-fixed:claimed-fixed verified:verified" {
		t.Errorf("with a base of noon: %s", got)
	}
	for since, want := range map[time.Time]Status{{}: Waived, noon.Add(-2 * time.Hour): Waived, noon.Add(-time.Hour): Open, noon: Open} {
		if got := ordered.Renewed(since)[1].Status; got != want {
			t.Errorf("for a base since %s, what was waived is %s", since, got)
		}
	}
}

// The record of a pull request that goes back and forth must not grow with it.
func TestRecordDoesNotGrowWithRounds(t *testing.T) {
	size := func(rounds int) int {
		r := Record{Verdict: RequestChanges, Head: head}
		for r.Round = 1; r.Round <= rounds; r.Round++ {
			f := Finding{Rule: "test/T1", Path: "a.go", Line: r.Round, Quote: "if err != nil {", Claim: "lost", Severity: Major,
				Why: strings.Repeat("why ", r.Round)}
			r.Ledger = r.Ledger.Claimed(head, []string{fmt.Sprintf("Touchstone-Reviewed: %s\nTouchstone-Disputed: %s it is not", head,
				Fingerprint(f))})
			r.Enter(Judgement{Verdict: RequestChanges, Complete: true, Answer: Answer{Findings: []Finding{f}}})
		}
		r.Round = 0
		seal, err := r.Seal(Signer{})
		if err != nil {
			t.Fatal(err)
		}
		return len(seal)
	}
	if two, many := size(2), size(60); many > two+8 {
		t.Errorf("%d bytes after two rounds, %d after sixty", two, many)
	}
}
