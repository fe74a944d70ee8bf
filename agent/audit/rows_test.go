package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

// TestRowsCountWhatBecameOfFindings: by the last record that is believed, with the rounds in which
// each stood and its part of their cost.
func TestRowsCountWhatBecameOfFindings(t *testing.T) {
	t.Parallel()
	entry := func(id string, status verdict.Status, first, last int) verdict.Entry {
		return verdict.Entry{ID: id, Status: status, Severity: verdict.Major, Rule: "security/S1", Claim: "c", First: first, Last: last}
	}
	disputed := entry("0000000b", verdict.Open, 1, 2)
	disputed.Disputes = 1
	late := entry("0000000c", verdict.Waived, 2, 2)
	late.Late = true
	other := entry("0000000d", verdict.Refuted, 1, 1)
	other.Rule = "test/T1"
	pull := func(repo string, ledgers ...verdict.Ledger) forge.Past {
		p := forge.Past{Ref: forge.Ref{Repo: forge.Repo{Owner: "acme", Name: repo}, Number: 1}, Author: forge.User{Login: "alice"}, Open: true}
		for i, l := range ledgers {
			p.Reviews = append(p.Reviews, round(t, "judge", i+1, time.Minute, verdict.RequestChanges, l))
		}
		p.Reviews = append(p.Reviews, round(t, "mallory", 9, time.Minute, verdict.RequestChanges,
			verdict.Ledger{entry("0000000e", verdict.Open, 9, 9)}))
		return p
	}
	stats := audit.Rows([]forge.Past{
		pull("app", verdict.Ledger{entry("0000000a", verdict.Open, 1, 1), entry("0000000b", verdict.Open, 1, 1)},
			verdict.Ledger{entry("0000000a", verdict.Verified, 1, 1), disputed, late}),
		pull("web", verdict.Ledger{other}),
	}, monday, []string{"judge"}, func(_ forge.Ref, id string) forge.Reactions {
		if id == "0000000b" {
			return forge.Reactions{Up: 2, Down: 1}
		}
		return forge.Reactions{}
	})
	if len(stats.Rows) != 2 || stats.Rows[0].Rule != "security/S1" {
		t.Fatalf("the rows are %+v", stats.Rows)
	}
	row := stats.Rows[0]
	part, ok := row.Precision()
	if row.Count != 3 || row.Held != 2 || row.Wrong != 1 || row.Upheld != 1 || row.Late != 1 || row.Liked != 2 || row.Disliked != 1 || !ok ||
		part < 0.66 || part > 0.67 {
		t.Errorf("it counts %+v, %v", row.Tally, part)
	}
	// The first stood in round 1, the second in both, the third in round 2; a round costs $0.50.
	if row.Rounds != 4 || row.CostUSD != 1 || row.Repositories["acme/app"].Count != 3 {
		t.Errorf("%d rounds, $%v, %+v", row.Rounds, row.CostUSD, row.Repositories)
	}
	if part, ok := stats.Rows[1].Precision(); !ok || part != 0 {
		t.Errorf("what was refuted counts %v", part)
	}
	var text strings.Builder
	if err := stats.Write(&text); err != nil || !strings.Contains(text.String(), "67 %") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// TestWithoutFindingsTheRowsAreAnEmptyList checks what programs read that go through the rows.
func TestWithoutFindingsTheRowsAreAnEmptyList(t *testing.T) {
	data, err := json.Marshal(audit.Rows(nil, monday, nil, nil))
	if err != nil || !strings.Contains(string(data), `"rows":[]`) {
		t.Errorf("%s, %v", data, err)
	}
}
