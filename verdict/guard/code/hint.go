package code

import (
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/words"
)

// fewer is the number of lost tokens from which a test file is reported.
const fewer = 12

// fewerData is the number of strings and numbers that a test file must also lose: shorter code with the same
// data is the same tests, written differently.
const fewerData = 2

// data is the number of strings and numbers in the units of a file.
func (s *side) data() (n int) {
	for _, u := range s.units {
		n += u.literals
	}
	return n
}

// kept reports whether a file had tests and still has each of them.
func (x *examination) kept(b *side) bool {
	tests := b.having(test)
	return len(tests) > 0 && !slices.ContainsFunc(tests, func(u *unit) bool { return x.pairs.of[u] == nil || x.pairs.of[u].side != b.other })
}

// hints examines test files without any other finding, and finds changes that may leave something out: code
// that is built under a new condition, words in shared test code that say so, and files that hold much less
// than before.
func (x *examination) hints() {
	said := map[string]bool{}
	for _, f := range x.findings {
		said[f.Path] = true
	}
	for _, u := range x.pairs.after {
		switch b := x.pairs.of[u]; {
		case !u.side.tests || said[u.side.path]:
		case b == nil && u.role == definition && u.side.other != nil:
			x.vague = append(x.vague, u.tries()...)
		case b != nil && b.digest != u.digest:
			x.vague = append(x.vague, x.alters(pair{b, u})...)
			if u.role == definition {
				x.vague = append(x.vague, pair{b, u}.skipsOtherwise()...)
			}
		}
	}
	for _, f := range x.vague {
		if !said[f.Path] {
			x.findings, said[f.Path] = append(x.findings, f), true
		}
	}
	for _, a := range x.after {
		b := a.other
		if !a.tests || said[a.path] {
			continue
		}
		if b == nil {
			if len(a.having(test)) == 0 { // a new file that sets up tests
				x.findings = append(x.findings, (&unit{side: a, to: len(a.tokens)}).tries()...)
			}
			continue
		}
		say := func(rule, why string, line int) {
			x.say(change.Evidence, change.Test, "test/"+rule, why, nil, a, 0, line)
		}
		i := slices.IndexFunc(a.guards, func(g guard) bool {
			return !slices.ContainsFunc(b.guards, func(h guard) bool { return h.cond == g.cond })
		})
		switch {
		case i >= 0 && len(a.guards) >= len(b.guards):
			say("built-on", "Code of these tests is built on a new condition.", a.line(min(a.guards[i].from, len(a.tokens)-1)))
		case len(b.tokens)-len(a.tokens) >= fewer && b.data()-a.data() >= fewerData && x.kept(b):
			say("less", "These tests hold less than they did.", 1)
		case len(a.having(test)) == 0:
			if f, is := words.Look(change.File{Path: a.path, After: []byte(a.text)}, b.text, a.text); is {
				x.findings = append(x.findings, f)
			}
		}
	}
}

// tries returns a finding if new code that tests use has a name in it that says that it tries again.
func (u *unit) tries() (found []change.Finding) {
	if strings.HasSuffix(u.name, "Timeout") && containsWord(u.side, u.from, u.at, "override") {
		return u.side.evidence(u.at, "New code that tests use sets "+u.name+": they may wait for longer.")
	}
	u.own(func(i int) {
		if name := u.side.of(i); len(found) == 0 && u.side.kindOf(i) == word && retrying.MatchString(name) {
			found = u.side.evidence(i, "New code that tests use has "+name+": it may try again what failed.")
		}
	})
	return found
}

// skipsOtherwise returns a finding if a function skips the tests that call it on another condition.
func (p pair) skipsOtherwise() []change.Finding {
	had := map[string]bool{}
	p.before.side.bodyMarks(p.before, func(e effect, cond string, _ int) { had[string(e)+cond] = true })
	at := -1
	p.after.side.bodyMarks(p.after, func(e effect, cond string, i int) {
		if (e == skips || e == fails) && !had[string(e)+cond] {
			at = i
		}
	})
	if len(had) == 0 || at < 0 {
		return nil
	}
	return p.after.side.evidence(at, "The function "+p.after.name+" skips tests on another condition than before.")
}

// evidence is a finding about a test file that is only evidence.
func (s *side) evidence(i int, why string) []change.Finding {
	return []change.Finding{{Tier: change.Evidence, Kind: change.Test, Rule: "test/setup", Why: why,
		Place: change.Place{Path: s.path, Line: s.line(i), After: s.lineText(s.line(i))}}}
}
