package code

import (
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/words"
)

// compareNever finds code of a test, or code that makes a check a part of the build, that ran and is under a
// constant false now.
func (x *examination) compareNever(before, after *side) {
	for _, g := range after.never() {
		now := after.all(g)
		if g.to-g.from < 2 || !after.holds(g) || // one word, as in an empty generator of Python, may be from anywhere
			!strings.Contains(before.all(guard{to: len(before.tokens)}), now) {
			continue
		}
		if !slices.ContainsFunc(before.never(), func(old guard) bool { return strings.Contains(before.all(old), now) }) {
			x.say(change.Hold, change.Test, "test/never-run", "This code ran, and is under a condition now that is never true.",
				after.headAt(after.line(g.from)))
		}
	}
}

// compareAware finds code of the product that asks, where it did not, whether a test runs it.
func (x *examination) compareAware(before, after *side) {
	had, asks := before.asking(), after.asking()
	if len(asks) > len(had) {
		x.say(change.Evidence, change.Test, "test/aware", "Code of the product does something else where a test runs it.",
			after.headAt(after.line(asks[len(asks)-1])))
	}
}

// asking are the words with which code asks whether a test runs it: testing.Testing(), cfg!(test), os.environ["PYTEST_VERSION"].
func (s *side) asking() (at []int) {
	if s == nil || s.tests {
		return nil
	}
	for i := range s.tokens {
		macro := s.lang.rust && s.of(i) == "cfg" && s.of(i+1) == "!" && s.arguments(i+2) == "test"
		if macro || aware[contentOf(s.of(i))] && (s.of(i) != "Testing" || s.of(i-2) == "testing") {
			at = append(at, i)
		}
	}
	return at
}

// never returns the code of a side that is under a constant false.
func (s *side) never() (out []guard) {
	for _, g := range s.guards {
		if never(g.cond) {
			out = append(out, g)
		}
	}
	for i, t := range s.tokens {
		if t.kind != word || s.of(i) != "if" {
			continue
		}
		n, body := i+1, i+2
		if s.of(n) == "(" {
			n, body = n+1, body+2
		}
		switch off := s.of(n) == "false" || s.of(n) == "False" || s.of(n) == "0"; {
		case off && s.of(body) == "{" && s.mate(body) > 0:
			out = append(out, guard{from: body + 1, to: s.mate(body)})
		case off && s.of(body) == ":" && s.lang.python:
			from, to := (&finder{side: s}).suite(i)
			out = append(out, guard{from: from, to: to})
		}
	}
	return out
}

// holds reports whether code belongs to a test, but has no test within it, whose marks say that it does not run; or
// makes a check a part of the build.
func (s *side) holds(g guard) bool {
	of := s.tests
	for _, u := range s.units {
		switch in := g.from <= u.from && u.to <= g.to; {
		case in && u.role == test:
			return false
		case u.role == group && u.from <= g.from && g.to <= u.to:
			of = true
		case in:
			of = of || strings.HasPrefix(u.name, "test")
		}
	}
	wired, checked := false, false
	for i := g.from; i < g.to && !of; i++ {
		wired = wired || wiring[s.of(i)]
		checked = checked || s.kindOf(i) != sign && words.Checks(s.of(i))
	}
	return of || wired && checked
}

// all is the text of some code, independent of its layout.
func (s *side) all(g guard) string {
	var b strings.Builder
	for i := g.from; i < g.to; i++ {
		b.WriteString(s.normal(i) + " ")
	}
	return b.String()
}
