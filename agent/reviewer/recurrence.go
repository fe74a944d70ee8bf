package reviewer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/guidelines"
	"touchstone/verdict"
)

// declared are the recurrence actions that a change declares, without repeats.
func declared(t Texts) []string {
	return slices.Sorted(maps.Keys(guidelines.Recurrence(append(slices.Clone(t.Commits), t.Body)...)))
}

// contradictory finds a bug fix that declares several actions. It accepts a fix that declares none: of 18
// changes in repositories that do not use the form, half would have been reported. The session judges what is
// declared and whether it is true.
func contradictory(t Texts, l criteria) []verdict.Finding {
	severity, ok := l.builtIn("recurrence/R1")
	actions := declared(t)
	if !ok || len(actions) < 2 {
		return nil
	}
	return []verdict.Finding{{
		Dimension: verdict.Recurrence, Severity: severity, Rule: "recurrence/R1",
		Claim: fmt.Sprintf("The change declares several recurrence actions (%s) where one decides what the reviewer has to look for.",
			strings.Join(actions, ", ")),
		Why:        "Each action asks the reviewer for something else in the change; with several, none is checked whole.",
		Suggestion: "Recurrence: add lint - <the rule and where it runs>",
		Verify: "The description and the commit messages have one line that begins with Recurrence: and names add lint, roll out, add " +
			"guideline or single occurrence.",
	}}
}

// often is the number of other pull requests from which on the owners of the guidelines are told that a rule
// is broken again.
const often = 3

// recurred are the rules, most often broken first, that many other changes broke and that this answer cites
// again with a severity that blocks. They are reported to the owners of the guidelines: finding the same
// defect again and again costs more than a lint rule or a type, but that is not the duty of the author of one
// more pull request.
func (t tripped) recurred(j verdict.Judgement) []string {
	rules := map[string]bool{}
	for _, f := range j.Answer.Findings {
		if f.Blocks() && t[f.Rule] >= often {
			rules[f.Rule] = true
		}
	}
	return t.oftenFirst(rules)
}

// oftenFirst sorts rules by how many other changes broke them.
func (t tripped) oftenFirst(rules map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(t[b]-t[a], strings.Compare(a, b))
	})
}

// decides reports whether code alone makes, or no longer makes, an earlier finding. Then no session must
// account for it.
func (l criteria) decides(e verdict.Entry) bool {
	if e.Path != "" || e.Rule != "recurrence/R1" {
		return false
	}
	_, ok := l.builtIn(e.Rule)
	return ok
}

// tripped counts, by rule, the other changes that broke it.
type tripped map[string]int

// pastOf looks up which rules other recent changes broke, if an applicable rule needs that. Only rules count
// that apply to this change and that a machine can check: no lint rule or CI guard could stop the others.
func pastOf(ctx context.Context, r Rules, l criteria) (tripped, error) {
	if _, ok := l.builtIn("recurrence/R5"); !ok || r.Past == nil {
		return nil, nil
	}
	past, err := r.Past(ctx)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(past, func(rule string, _ int) bool { return !l.checkable(rule) })
	return past, nil
}

// checkable reports whether a rule applies and is marked as one that a machine can check.
func (l criteria) checkable(rule string) bool {
	return slices.ContainsFunc(l.rules, func(a guidelines.Applied) bool { return a.Row.ID == rule && a.Row.Checkable })
}

// maxTripped bounds the number of rules that the session is told.
const maxTripped = 30

// recurring tells the session which rules other changes often broke.
func (m material) recurring() string {
	rules := map[string]bool{}
	for rule, n := range m.tripped {
		rules[rule] = n >= often
	}
	maps.DeleteFunc(rules, func(_ string, told bool) bool { return !told })
	if len(rules) == 0 {
		return ""
	}
	var list strings.Builder
	for i, rule := range m.tripped.oftenFirst(rules) {
		if i == maxTripped {
			break
		}
		fmt.Fprintf(&list, "- %s: in %d other pull requests\n", rule, m.tripped[rule])
	}
	return "\n# Rules that tripped here before\n\nOther pull requests of this repository broke these of late, and a machine can check " +
		"them.\n" + m.quote(Passage{"rules", list.String()})
}
