package projection_test

import (
	"testing"

	"touchstone/relay/dashboard/projection"
	"touchstone/verdict"
)

// What a guideline row found is told apart by the model that found it and by the guidelines that it stood in.
func TestARuleIsToldApartByModelAndGuidelines(t *testing.T) {
	l := newLog(t)
	for i, by := range [][2]string{{"opus", "v1"}, {"opus", "v2"}, {"sonnet", "v2"}} {
		r := record(verdict.RequestChanges, "aaa")
		r.Model, r.Guidelines = by[0], by[1]
		l.append(opened(i+1, "aaa"), reviewed(10, i+1, "submitted", "judge", "changes_requested", "aaa", body(r, verdict.Signer{})))
	}
	p := l.project(l.file(), "judge")
	for _, c := range []struct {
		model, guidelines string
		fired, pulls      int
	}{{"", "", 3, 3}, {"opus", "", 2, 2}, {"", "v2", 2, 2}, {"sonnet", "v2", 1, 1}, {"sonnet", "v1", 0, 0}} {
		q := projection.RuleQuery{Rule: "security/S2", Model: c.model, Guidelines: c.guidelines, Bucket: projection.Day}
		if got, err := p.RuleTrends(t.Context(), q, began, began); err != nil || len(got) != 1 || got[0].Fired != c.fired ||
			len(got[0].Pulls) != c.pulls {
			t.Errorf("by %q with %q: %+v, %v", c.model, c.guidelines, got, err)
		}
	}
}
