package reviewer

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
)

// declaration is the line by which a bug fix says what keeps the defect from coming
// back, as the recurrence guideline wants it.
var declaration = regexp.MustCompile(`(?im)^[ \t]*recurrence:[ \t]*(add lint|roll out|add guideline|single occurrence)\b[ \t]*\S`)

// declared are the recurrence actions that a change declares, each once.
func declared(s Subject) []string {
	actions := map[string]bool{}
	for _, text := range append([]string{s.Body}, s.Commits...) {
		for _, m := range declaration.FindAllStringSubmatch(text, -1) {
			actions[strings.ToLower(m[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(actions))
}

// undeclared finds a bug fix that does not declare exactly one action. What is
// declared, and whether it is true, is the session's to judge.
func (p *Prepared) undeclared() []verdict.Finding {
	severity, ok := p.rule("recurrence/R1")
	if !ok {
		return nil
	}
	f := verdict.Finding{
		Dimension: verdict.Recurrence, Severity: severity, Rule: "recurrence/R1",
		Why:        "What is repaired once shows a way in which defects get in; unless it is closed in the same change, the next one takes it too.",
		Suggestion: "Recurrence: add lint - <the rule and where it runs>",
		Verify:     "The description or a commit message has one line that begins with Recurrence: and names add lint, roll out, add guideline or single occurrence.",
	}
	switch actions := declared(p.Subject); len(actions) {
	case 1:
		return nil
	case 0:
		f.Claim = "The change repairs a defect, and neither its description nor a commit message declares what keeps it from coming back."
	default:
		f.Claim = fmt.Sprintf("The change declares several recurrence actions (%s) where one decides what the reviewer has to look for.", strings.Join(actions, ", "))
	}
	return []verdict.Finding{f}
}

// guards are the files that can hold what finds a defect before a review does.
var guards = func() guidelines.Scope {
	scope, err := guidelines.Compile("tests, ci, config")
	if err != nil {
		panic(err)
	}
	return scope
}()

// unguarded finds a rule that other changes broke here too and that trips again, in this
// round or an earlier one, while nothing in the change could be a guard for it. What is
// added, and whether it would have found the defect, is the session's to judge; so is a
// change that says that a lint rule or a type is in it.
func (p *Prepared) unguarded(j verdict.Judgement) []verdict.Finding {
	severity, ok := p.rule("recurrence/R5")
	if !ok {
		return nil
	}
	again := map[string]bool{}
	for _, f := range j.Answer.Findings {
		again[f.Rule] = again[f.Rule] || f.Severity.Blocks() && p.tripped[f.Rule] > 0
	}
	for _, e := range p.Ledger {
		again[e.Rule] = again[e.Rule] || e.Severity.Blocks() && e.Status != verdict.Waived && p.tripped[e.Rule] > 0
	}
	maps.DeleteFunc(again, func(rule string, tripped bool) bool { return !tripped || strings.HasPrefix(rule, "recurrence/") })
	actions := declared(p.Subject)
	if len(again) == 0 || slices.Equal(actions, []string{"add lint"}) || !slices.Contains(actions, "single occurrence") && p.guards() {
		return nil
	}
	return []verdict.Finding{{
		Dimension: verdict.Recurrence, Severity: severity, Rule: "recurrence/R5", Claim: unguardedClaim,
		Why:        fmt.Sprintf("%s tripped in other pull requests here of late and in this one: a review that finds it again and again is no guard against it.", strings.Join(slices.Sorted(maps.Keys(again)), ", ")),
		Suggestion: "Recurrence: add lint - <the rule and where it runs>",
		Verify:     "The change adds a test, a lint rule, a CI check or a type that fails on the defect, and does not call it a single occurrence.",
	}}
}

// unguardedClaim is the same in each round, so that the finding is.
const unguardedClaim = "The change breaks a rule that tripped here before, and nothing in it keeps the rule from tripping again."

// guards reports whether the change adds lines to a file that can hold a guard.
func (p *Prepared) guards() bool {
	change := p.change()
	change.Files = slices.DeleteFunc(change.Files, func(f guidelines.File) bool {
		return !slices.ContainsFunc(p.Diff.Files, func(d worktree.FileDiff) bool { return d.Path == f.Path && d.Added > 0 })
	})
	ok, _ := guards.Applies(change)
	return ok
}

// decides reports whether an earlier finding is one that code makes or does not make
// again, so that no session has to account for it.
func (p *Prepared) decides(e verdict.Entry) bool {
	if e.Path != "" || e.Rule != "recurrence/R1" && !(e.Rule == "recurrence/R5" && e.Claim == unguardedClaim) {
		return false
	}
	_, ok := p.rule(e.Rule)
	return ok
}

// rule is the severity of a row that applies, if it is the built-in one: what a
// repository made of it in its own words is not for code to decide.
func (p *Prepared) rule(id string) (verdict.Severity, bool) {
	built, ok := p.examiner.Guidelines.Row(id)
	for _, a := range p.Rules {
		if ok && a.Row.ID == id && a.Row.Criterion == built.Criterion {
			return verdict.Severity(a.Row.Severity), true
		}
	}
	return "", false
}

// askPast finds out which rules other changes broke of late, if a rule that applies
// builds on it.
func (p *Prepared) askPast(ctx context.Context) (err error) {
	if _, ok := p.rule("recurrence/R5"); ok && p.Past != nil {
		p.tripped, err = p.Past(ctx)
	}
	return err
}

// maxTripped bounds the rules that the session is told of.
const maxTripped = 30

// recurring tells the session which rules other changes broke here of late: one of
// them that trips again has to become a guard.
func (p *Prepared) recurring() string {
	if len(p.tripped) == 0 {
		return ""
	}
	rules := slices.SortedFunc(maps.Keys(p.tripped), func(a, b string) int {
		if d := p.tripped[b] - p.tripped[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var list strings.Builder
	for _, rule := range rules[:min(len(rules), maxTripped)] {
		fmt.Fprintf(&list, "- %s: in %d other pull requests\n", rule, p.tripped[rule])
	}
	return "\n# Rules that tripped here before\n\nA finding under one of these trips for the second time in this repository.\n" + p.quote(Passage{"rules", list.String()})
}
