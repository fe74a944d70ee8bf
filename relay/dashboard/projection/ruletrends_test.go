package projection_test

import (
	"fmt"
	"slices"
	"testing"

	"touchstone/relay/dashboard/projection"
	"touchstone/verdict"
)

// The findings of a guideline row are distinguished by the model that found them and by the version of the
// guidelines.
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
	models, guidelines, err := p.RuleVersions(t.Context(), projection.RuleQuery{Rule: "security/S2"}, began)
	if err != nil || !slices.Equal(models, []string{"opus", "sonnet"}) || !slices.Equal(guidelines, []string{"v1", "v2"}) {
		t.Errorf("the row fired by %q with %q, %v", models, guidelines, err)
	}
}

// An older note of the day on which the log begins knows less about a rule, however much it knows about others.
func TestAnOlderNoteOfOtherRulesIsNoBetterKnowledge(t *testing.T) {
	l := newLog(t)
	for number := 1; number <= 3; number++ {
		l.append(opened(number, "aaa"), reviewed(10, number, "submitted", "judge", "changes_requested", "aaa",
			body(record(verdict.RequestChanges, "aaa"), verdict.Signer{})))
	}
	path := l.file()
	makeFile(t, l, path)
	const noted = `[{"source":"github","repo":"acme/app","fired":[{"rule":"security/S2","severity":"major","status":"open","findings":1},` +
		`{"rule":"doc/D2","severity":"nit","status":"open","findings":100}]}]`
	alter(t, path, fmt.Sprintf("UPDATE days SET fired = '%s' WHERE day = %d", noted, began.Unix()/86400))
	q := projection.RuleQuery{Rule: "security/S2", Bucket: projection.Day}
	if got, err := l.project(path, "judge").RuleTrends(t.Context(), q, began, began); err != nil || len(got) != 1 || got[0].Fired != 3 {
		t.Errorf("the rule's days are %+v, %v; want one on which it fired three times", got, err)
	}
}
