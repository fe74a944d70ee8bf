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
		said := slices.ContainsFunc(p.before.claims, func(c claim) bool { return !c.vacuous() })
		if said && (p.after.role == definition || p.after.role == test && len(p.after.children) == 0) {
			x.emptied(p)
		}
		return
	}
	say := func(rule, why string, old *side, oldLine, newLine int) {
		x.say(change.Evidence, change.Assertion, "assertion/"+rule, why, old, a, oldLine, newLine)
	}
	if p.after.role == definition && a.of(p.after.body) == "return" && b.of(p.before.body) != "return" && a.endsHere(p.after.body) {
		say("helper-returns", "The helper "+p.after.name+" ends before it checks anything.", b, p.before.line(), p.after.line())
	}
	gone := 0 // the line of an assertion, or a case, that nothing stands for
	for _, c := range before {
		i := closest(c, after)
		if i < 0 {
			if gone == 0 {
				gone = c.line(b)
			}
			continue
		}
		d := after[i]
		after = slices.Delete(slices.Clone(after), i, i+1)
		if looser(c, d) {
			say("looser", "The assertion accepts more results than it did.", b, c.line(b), d.line(a))
		} else if !x.vanished.touched && c.code == d.code && c.strength != 2 {
			say("expectation-changed", "What the test expects changed, and nothing but tests did.", b, c.line(b), d.line(a))
		}
	}
	for _, d := range after {
		if d.vacuous() {
			say("looser", "The assertion is always true.", nil, 0, d.line(a))
		}
	}
	lost := lostRows(p)
	had, has := len(p.before.claims)+len(p.before.rows), len(p.after.claims)+len(p.after.rows)
	switch {
	case has < had && gone+lost > 0:
		x.say(change.Evidence, change.Assertion, "assertion/fewer", "An assertion, or a case of the test's table, is gone.", b, nil, max(gone, lost), 0)
	case has == had && lost > 0 && !x.vanished.touched:
		x.say(change.Evidence, change.Assertion, "assertion/expectation-changed", "A case changed, and nothing but tests did.", b, nil, lost, 0)
	}
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

// leftClaims are the assertions of a pair that do not stand on both sides.
func leftClaims(p pair) (before, after []claim) {
	without := func(list, other []claim) (left []claim) {
		has := map[string]int{}
		for _, c := range other {
			has[c.norm]++
		}
		for _, c := range list {
			if has[c.norm]--; has[c.norm] < 0 {
				left = append(left, c)
			}
		}
		return left
	}
	return without(p.before.claims, p.after.claims), without(p.after.claims, p.before.claims)
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

// looser reports whether an assertion is passed by more results than the one that it stands for.
func looser(c, d claim) bool {
	was, is := c.strength, d.strength
	if was == unknown {
		was = 3
	}
	switch {
	case c.vacuous():
		return false
	case d.vacuous(), is != unknown && is < was, d.loose && !c.loose, c.code == d.code && len(d.words) < len(c.words):
		return true
	}
	return c.op == d.op && was == 2 && is == 2 && c.number != d.number && (c.number < d.number) != digits[c.op]
}

// digits are assertions whose number says how many digits count, so that fewer are looser.
var digits = set("tobecloseto assertalmostequal almostequal")

// lostRows is the line of the first case that is gone from a test's tables; 0 when none is.
func lostRows(p pair) int {
	has := map[string]int{}
	for _, r := range p.after.rows {
		has[r.norm]++
	}
	for _, r := range p.before.rows {
		if has[r.norm]--; has[r.norm] < 0 {
			return r.line
		}
	}
	return 0
}

// tolerating are the words by which a test passes a failure over, or waits it out.
var tolerating = map[string]string{}

func init() {
	for why, words := range map[string]string{
		"catches failures":     "except catch rescue recover suppress",
		"passes over cases":    "continue next",
		"waits or tries again": "sleep Sleep usleep sleep_ms retry Retry retries Eventually eventually waitForTimeout setTimeout",
	} {
		for _, word := range strings.Fields(words) {
			tolerating[word] = why
		}
	}
}

// compareHandling finds failures that are passed over now, or waited out.
func (x *examination) compareHandling(p pair) {
	count := func(u *unit) (n, line map[string]int) {
		n, line = map[string]int{}, map[string]int{}
		u.own(func(i int) {
			if why := tolerating[u.side.of(i)]; why != "" && u.side.tokens[i].kind == word && u.side.of(i+1) != ":" {
				n[why]++
				line[why] = int(u.side.tokens[i].line)
			}
		})
		return n, line
	}
	had, _ := count(p.before)
	has, line := count(p.after)
	for why, n := range has {
		if n > had[why] && (len(p.after.claims) <= len(p.before.claims) || strings.HasPrefix(why, "waits")) {
			x.say(change.Evidence, change.Assertion, "assertion/tolerates", "The test "+why+" where it did not.", nil, p.after.side, 0, line[why])
		}
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
