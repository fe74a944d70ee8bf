package code

import (
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// compareTest compares what two versions of a test, or of a helper, say.
func (x *examination) compareTest(p pair) {
	before, after := leftClaims(p)
	b, a := p.before.side, p.after.side
	if len(p.before.claims) > 0 && len(p.after.claims) == 0 {
		said := slices.ContainsFunc(p.before.claims, func(c claim) bool { return !c.vacuous })
		if said && p.after.role == test && len(p.after.children) == 0 || said && p.after.role == definition {
			x.emptied(p)
		}
		return
	}
	if p.after.role == definition && a.of(p.after.body) == "return" && b.of(p.before.body) != "return" && a.endsHere(p.after.body) {
		x.say(change.Evidence, change.Assertion, "assertion/helper-returns", "The helper "+p.after.name+" ends before it checks anything.",
			b, a, p.before.line(), p.after.line())
	}
	moot := len(p.before.claims) - len(p.after.claims)
	for _, c := range before {
		if other := closest(c, after); other >= 0 {
			d := after[other]
			if why := looser(c, d); why != "" {
				x.say(change.Evidence, change.Assertion, "assertion/looser", why, b, a, c.line(b), d.line(a))
			} else if !x.vanished.touched && c.strength != 2 && c.code(b) == d.code(a) {
				x.say(change.Evidence, change.Assertion, "assertion/expectation-changed", unexplained, b, a, c.line(b), d.line(a))
			}
			after = append(after[:other:other], after[other+1:]...)
		} else if moot > 0 {
			moot--
			x.say(change.Evidence, change.Assertion, "assertion/removed", "An assertion is gone and nothing stands in its place.",
				b, nil, c.line(b), 0)
		}
	}
	for _, d := range after {
		if d.vacuous {
			x.say(change.Evidence, change.Assertion, "assertion/vacuous", "The assertion is always true.", nil, a, 0, d.line(a))
		}
	}
	x.compareRows(p)
	x.compareLimits(p)
	x.compareHandling(p)
}

// emptied judges a test that asserted something and asserts nothing any more.
func (x *examination) emptied(p pair) {
	b, a := p.before.side, p.after.side
	fresh, checked := false, false
	words := b.wordsOf(p.before)
	p.after.own(func(i int) {
		name := a.of(i)
		if a.tokens[i].kind != word || common[name] || !a.calls(i) {
			return
		}
		fresh = fresh || a.of(i+2) == "t" // what is given the test may fail it
		if !words[name] {
			fresh = true
			checked = checked || assertion(name) || x.checks(name)
		}
	})
	if checked || fresh && p.after.role != test {
		return
	}
	had, has := p.before.effective(), p.after.effective()
	for _, m := range has {
		if m.effect == skips && worse(had, has, m) != "" {
			return // said of the mark
		}
	}
	tier, rule, why := change.Hold, "test/emptied", "The test "+p.after.name+" asserts nothing any more."
	if p.after.role != test {
		tier, rule, why = change.Evidence, "assertion/helper-emptied", "The helper "+p.after.name+" asserts nothing any more."
	}
	for w := range a.wordsOf(p.after) { // more happened than that something was taken out
		fresh = fresh || !words[w] && !idleWords[w] && w != p.after.name
	}
	if fresh {
		tier = change.Evidence
	}
	kind := change.Test
	if p.after.role != test {
		kind = change.Assertion
	}
	x.say(tier, kind, rule, why, b, a, p.before.line(), p.after.line())
}

// idleWords are what is left where nothing happens.
var idleWords = set("pass return null undefined _")

// calls reports whether a word calls a function: with brackets, type arguments, a block, or
// in Ruby at the beginning of a line.
func (s *side) calls(i int) bool {
	switch next := s.of(i + 1); {
	case next == "(":
		return true
	case next == "{":
		return s.lang.newlines && !control[s.of(i)]
	case next == "<":
		n := s.pastAngles(i + 1)
		return n > i+1 && s.of(n) == "("
	default:
		return s.lang.ruby && s.tokens[i].first && !control[s.of(i)]
	}
}

// checks reports whether a function at the head asserts something, or is called so.
func (x *examination) checks(name string) bool {
	lower := strings.ToLower(name)
	for _, w := range []string{"assert", "check", "require", "expect", "verify", "must", "equal", "match", "test"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	for _, s := range x.after {
		for _, u := range s.units {
			if u.name == name && len(u.claims) > 0 {
				return true
			}
		}
	}
	return false
}

const unexplained = "What the test expects changed, and nothing but tests did."

// leftClaims are the assertions of a pair that do not stand on both sides.
func leftClaims(p pair) (before, after []claim) {
	has := map[string]int{}
	for _, c := range p.after.claims {
		has[c.norm]++
	}
	for _, c := range p.before.claims {
		if has[c.norm] > 0 {
			has[c.norm]--
		} else {
			before = append(before, c)
		}
	}
	for _, c := range slices.Backward(p.after.claims) {
		if has[c.norm] > 0 {
			has[c.norm]--
			after = append(after, c)
		}
	}
	slices.Reverse(after)
	return before, after
}

// closest is the assertion that shares the most words with one; -1 when none shares
// enough.
func closest(c claim, list []claim) int {
	best, at := 0.34, -1
	for i, d := range list {
		if score := min(share(c.words, d.words), 1) + share(d.words, c.words)/4; score > best {
			best, at = score, i
		}
	}
	return at
}

// looser says how an assertion is passed by more results than another one; "" when not.
func looser(c, d claim) string {
	switch {
	case d.strength < c.strength && !c.vacuous:
		return "The assertion accepts more results than it did."
	case d.loose && !c.loose:
		return "The assertion accepts any value where it asked for one."
	case d.op == c.op && d.strength == 2 && c.strength == 2 && c.number != d.number && (c.number < d.number) != digits[strings.ToLower(c.op)]:
		return "The tolerance is wider than it was."
	case d.args < c.args && d.args == 0 && d.op == c.op:
		return "The assertion no longer says what it expects."
	case anyError(d) && !anyError(c) && strings.EqualFold(c.op, d.op):
		return "The assertion accepts any error."
	case d.vacuous && !c.vacuous:
		return "The assertion is always true."
	}
	return ""
}

// digits are assertions whose number says how many digits count, so that fewer are looser.
var digits = set("tobecloseto assertalmostequal almostequal")

var anyErrors = set("Exception Throwable BaseException Error StandardError RuntimeException")

// anyError reports whether an assertion names only a class that all errors belong to.
func anyError(c claim) bool {
	for w := range c.words {
		if anyErrors[w] {
			return strings.Contains(strings.ToLower(c.op), "raise") || strings.Contains(strings.ToLower(c.op), "throw")
		}
	}
	return false
}

// constant reports whether an assertion looks at nothing that was computed.
func constant(c claim) bool {
	if op := strings.ToLower(c.op); strengths[op] == 0 && !truths[op] {
		return false // a function of the tests' own
	}
	for w := range c.words {
		if isWordStart(w[0]) && !common[w] && w != "to" && w != c.op && !strings.EqualFold(w, "True") && !assertion(w) && !receivers[w] {
			return false
		}
	}
	return true
}

// compareRows finds cases that are gone from a test's tables.
func (x *examination) compareRows(p pair) {
	has := map[string]int{}
	for _, r := range p.after.rows {
		has[r.norm]++
	}
	var lost []row
	for _, r := range p.before.rows {
		if has[r.norm] > 0 {
			has[r.norm]--
		} else {
			lost = append(lost, r)
		}
	}
	n := len(p.before.rows) - len(p.after.rows)
	if n == 0 && len(lost) > 0 && !x.vanished.touched {
		x.say(change.Evidence, change.Assertion, "assertion/expectation-changed", unexplained, p.before.side, nil, lost[0].line, 0)
	}
	for _, r := range lost {
		if n--; n < 0 {
			return
		}
		x.say(change.Evidence, change.Assertion, "assertion/case-removed", "A case is gone from the test's table.", p.before.side, nil, r.line, 0)
	}
}

// handlers, passes and waits are words by which a test swallows a failure, or waits it out.
var (
	passes   = set("continue next")
	handlers = set("except catch rescue recover suppress")
	waits    = set("sleep Sleep usleep sleep_ms retry Retry retries Eventually eventually waitForTimeout setTimeout")
)

// compareHandling finds failures that are swallowed now, or waited out.
func (x *examination) compareHandling(p pair) {
	count := func(u *unit, names map[string]bool) (n, line int) {
		u.own(func(i int) {
			if names[u.side.of(i)] && u.side.tokens[i].kind == word && u.side.of(i+1) != ":" {
				n, line = n+1, int(u.side.tokens[i].line)
			}
		})
		return n, line
	}
	say := func(rule, why string, line int) {
		x.say(change.Evidence, change.Assertion, rule, why, nil, p.after.side, 0, line)
	}
	had, _ := count(p.before, handlers)
	if has, line := count(p.after, handlers); has > had && len(p.after.claims) <= len(p.before.claims) {
		say("assertion/failure-caught", "The test catches failures that it did not catch.", line)
	}
	had, _ = count(p.before, passes)
	if has, line := count(p.after, passes); has > had && len(p.after.claims) <= len(p.before.claims) {
		say("assertion/case-passed-over", "The test passes over cases that it did not pass over.", line)
	}
	had, _ = count(p.before, waits)
	if has, line := count(p.after, waits); has > had {
		say("assertion/waits", "The test waits or tries again where it did not.", line)
	}
}

// compareHelpers compares the functions that tests call, and the tables beside them.
func (x *examination) compareHelpers() {
	p := pairing{renamed: x.renamed}
	helpers := func(sides []*side) (out []*unit) {
		for _, s := range sides {
			for _, u := range s.units {
				if u.role == definition && (len(u.claims) > 0 || len(u.rows) > 0 || s.tests) {
					out = append(out, u)
				}
			}
		}
		return out
	}
	p.before, p.after = helpers(x.before), helpers(x.after)
	p.assign()
	for _, b := range p.before {
		if a := p.taken[b]; a != nil && a.digest != b.digest {
			x.compareTest(pair{b, a})
		}
	}
}
