package code

import (
	"slices"

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
		if b := x.pairs.of[u]; b != nil && b.digest != u.digest && u.side.tests && !said[u.side.path] {
			x.vague = append(x.vague, x.alters(pair{b, u})...)
		}
	}
	for _, f := range x.vague {
		if !said[f.Path] {
			x.findings, said[f.Path] = append(x.findings, f), true
		}
	}
	for _, a := range x.after {
		b := a.other
		if b == nil || !a.tests || said[a.path] {
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
