package e2e

import (
	"strings"
	"testing"

	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// TestSpecialistsReviewAndOneJudges runs the loop with three sessions that walk a part of the dimensions each, and one
// that judges: a defect that two of them report is one finding, one review is posted for all, and each session is
// counted once in what it cost.
func TestSpecialistsReviewAndOneJudges(t *testing.T) {
	t.Parallel()
	const price = 0.25
	twice := defect("store/search.go", "unsafe()", "safe()", "critical")
	again := defect("store/search.go", "unsafe()", "safe()", "major")
	finding := again["finding"].(map[string]any)
	finding["dimension"], finding["rule"] = "Architecture", "architecture/A1"
	other := defect("store/search.go", "vauge", "vague", "major")
	finding = other["finding"].(map[string]any)
	finding["dimension"], finding["rule"] = "Test", "test/T1"
	w := newWorld(t, with(map[string]any{"cost_usd": price, "defects": []any{twice, again, other}}, decide.Reviewer, ""))
	_, err := w.Commit(w.Ctx, admin, repo.String(), "main", "Have specialists review", map[string]string{
		".touchstone/config.yaml": "review:\n  strategy: specialists\n",
	})
	w.must(err)
	w.startBoth()
	ref := w.openBad(false)
	w.until("it is merged", func() bool { return w.merged(ref) })
	w.checkInvariants(ref)

	if n := w.sessions(decide.Reviewer); n != 8 {
		t.Errorf("%d sessions reviewed two heads, want three and a judge for each", n)
	}
	records := w.records(ref)
	if len(records) != 2 {
		t.Fatalf("%d reviews are posted", len(records))
	}
	first := records[0]
	rules := map[string]string{}
	for _, e := range first.Ledger {
		rules[e.Rule] = e.Path
	}
	if first.Verdict != verdict.RequestChanges || len(first.Ledger) != 2 || rules["security/S1"] == "" || rules["test/T1"] == "" {
		t.Errorf("the first review says %s of %+v", first.Verdict, first.Ledger)
	}
	if len(first.Evidence) != 3 {
		t.Errorf("the judge answered %+v, want one candidate of each specialist", first.Evidence)
	}
	for _, e := range first.Evidence {
		if e.Kind != "candidate" || e.Refuted != "" {
			t.Errorf("a candidate that is a finding counts as %+v", e)
		}
	}
	for _, r := range records {
		if r.CostUSD != 4*price {
			t.Errorf("round %d cost $%v, want $%v: four sessions, each once", r.Round, r.CostUSD, 4*price)
		}
	}
	if body := w.reviews(ref)[0].GetBody(); !strings.Contains(body, "$1.00") {
		t.Errorf("the review does not say what it cost:\n%s", body)
	}
	if got := w.file("main", "store/search.go"); strings.Contains(got, "unsafe()") || strings.Contains(got, "vauge") {
		t.Errorf("main holds what the review objected to:\n%s", got)
	}
}
