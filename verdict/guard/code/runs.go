package code

import (
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/junit"
)

// around returns the path of a test's file and the names of the units around the test.
func (u *unit) around() []string {
	out := []string{u.side.path}
	for p := u.parent; p != nil; p = p.parent {
		out = append(out, p.name)
	}
	return out
}

// passed reports whether a test is known to have run and passed at the head.
func (x *examination) passed(u *unit) bool {
	return x.runs != nil && x.runs.Passed(u.name, u.around())
}

// The rules whose findings come only from the runs.
const (
	ranBefore   = "test/ran-before"
	skippedRun  = "test/skipped-run"
	retried     = "test/retry"
	caseRemoved = "assertion/case-removed"
)

// Loses reports whether the findings of a rule say that a test no longer runs, by what ran or as it is deleted.
func Loses(rule string) bool {
	return rule == deleted || rule == ranBefore || rule == skippedRun || rule == retried || rule == caseRemoved
}

// maxRuns bounds the findings that come only from the runs.
const maxRuns = 200

// compareRuns compares the runners' reports for both sides. It skips a test that already has a finding from
// the code.
func (x *examination) compareRuns() {
	if x.runs == nil {
		return
	}
	left := maxRuns
	say := func(c junit.Case, b *unit, tier change.Tier, rule, why string) {
		if left--; left < 0 || b != nil && x.said[b] {
			return
		}
		at := change.Place{Path: c.Class, Before: c.Name}
		if b != nil {
			at = b.side.baseAt(b.line())
		}
		x.say(tier, change.Test, rule, why, at)
	}
	for _, c := range x.runs.Missing() {
		b := x.unitOf(c)
		if b == nil && left > 0 {
			b = x.rowOf(c)
		}
		switch {
		case b == nil, x.pairs.of[b] != nil && !x.passed(x.pairs.of[b]):
			say(c, b, change.Hold, ranBefore, "The test "+c.Name+" ran and passed before and does not run now.")
		case x.pairs.of[b] != nil && x.pairs.of[b].name == b.name:
			say(c, b, change.Evidence, caseRemoved, "The case "+c.Name+" ran and passed before and does not run now.")
		}
	}
	for _, c := range x.runs.Skipped() {
		say(c, x.unitOf(c), change.Hold, skippedRun, "The test "+c.Name+" ran and passed before and is skipped now.")
	}
	for _, c := range x.runs.Retried() {
		say(c, x.unitOf(c), change.Evidence, retried, "The test "+c.Name+" passed at once before and is tried again now.")
	}
}

// rowOf is the test of Go at the base that a row of its table is run by, if the row stood in its file and does not at the head; nil
// for others, such as a row that is read from elsewhere.
func (x *examination) rowOf(c junit.Case) *unit {
	top, row, is := strings.Cut(c.Name, "/")
	b := x.unitOf(junit.Case{Class: c.Class, Name: top})
	stands := func(s *side) bool { return strings.Contains(junit.Plain(s.text), junit.Plain(row)) }
	if !is || b == nil || b.side.other == nil || !stands(b.side) || stands(b.side.other) {
		return nil
	}
	return b
}

// unitOf is the test at the base that a runner's case belongs to; nil if the change does not touch it.
func (x *examination) unitOf(c junit.Case) *unit {
	if x.named == nil {
		x.named = map[string][]*unit{}
		for _, b := range x.pairs.before {
			x.named[junit.Plain(b.name)] = append(x.named[junit.Plain(b.name)], b)
		}
	}
	var found *unit
	for _, name := range c.Names() {
		for _, b := range x.named[name] {
			if found = b; c.In(b.around()) {
				return b
			}
		}
	}
	return found
}
