package code

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"touchstone/verdict/guard/change"
)

// compareAssertions compares the assertions of two versions of a test, or of a function that tests call. The head
// must assert at least as much.
func (x *examination) compareAssertions(p pair) {
	b, a := p.before.side, p.after.side
	say := func(rule, why string, at change.Place) {
		x.say(change.Evidence, change.Assertion, "assertion/"+rule, why, at)
	}
	if len(p.before.assertions) > 0 && len(p.after.assertions) == 0 && x.emptied(p) {
		return
	}
	if p.after.role == definition && a.of(p.after.body) == "return" && b.of(p.before.body) != "return" && a.endsHere(p.after.body) {
		say("helper-returns", "The helper "+p.after.name+" ends before it checks anything.", bothAt(b, p.before.line(), a, p.after.line()))
	}
	lost, added := b.without(p.before.assertions, p.after.assertions), a.without(p.after.assertions, p.before.assertions)
	var gone *reading // the first assertion without a replacement
	alone := len(lost) == 1 && len(added) == 1
	for _, c := range lost {
		i := closest(c, added)
		if i < 0 && alone && !p.after.notes(b.lineText(c.line)) {
			i = 0
		}
		if i < 0 {
			if gone == nil {
				gone = &c
			}
			continue
		}
		if added[i].looser(c) {
			say("looser", "The assertion accepts more results than it did.", bothAt(b, c.line, a, added[i].line))
		}
		added = slices.Delete(added, i, i+1)
	}
	if gone != nil {
		line := b.lineText(gone.line)
		switch {
		case len(p.after.assertions) > 0 && p.after.notes(line) && !p.before.notes(line):
			x.say(change.HoldIf(!p.before.off() && !x.subject.takes(gone.words)), change.Assertion, "assertion/commented-out",
				"An assertion is commented out.", b.baseAt(gone.line))
		case len(p.after.assertions) < len(p.before.assertions):
			say("fewer", "An assertion is gone.", b.baseAt(gone.line))
		}
	}
	if c, now := p.conditional(); now {
		say("conditional", "The assertion is made under a condition only.", a.headAt(a.line(int(c.from))))
	}
	x.comparePatience(p)
}

// conditional finds an assertion that is now made under a condition and was unconditional before.
func (p pair) conditional() (assertion, bool) {
	some := func(u *unit, c assertion) bool {
		on := u.side.conditionsAt(int(c.from), u.body)
		return slices.ContainsFunc(on, func(one condition) bool { return !strings.HasPrefix(one.text, "else") })
	}
	everywhere, n := map[uint64]bool{}, 0
	for _, c := range p.before.assertions {
		if everywhere[c.digest] = !some(p.before, c); everywhere[c.digest] {
			n++
		}
	}
	if p.after.side.lang.name == "Go" { // in Go the assertions themselves are conditions
		n = 0
	}
	var last assertion
	for _, c := range p.after.assertions {
		switch {
		case !some(p.after, c):
			n--
		case everywhere[c.digest]:
			return c, true
		default:
			last = c
		}
	}
	return last, n > 0 && len(p.after.assertions) >= len(p.before.assertions) && last.to > 0
}

// notes reports whether a text is in a comment within a unit.
func (u *unit) notes(text string) bool {
	return slices.ContainsFunc(u.side.notes, func(n note) bool {
		return n.next >= u.from && n.next <= u.to && strings.Contains(u.side.text[n.from:n.to], text)
	})
}

// off reports whether a test is always skipped.
func (u *unit) off() bool {
	return slices.ContainsFunc(u.effective(), func(m mark) bool { return m.effect == skips && m.cond == "" })
}

// emptied judges a test or helper that asserted something and asserts nothing any more, and reports whether
// nothing else is left to report about it. The finding is certain only for a test in which nothing happens
// any more.
func (x *examination) emptied(p pair) bool {
	had, has := p.before.effective(), p.after.effective()
	if len(p.after.children) > 0 || slices.ContainsFunc(has, func(m mark) bool {
		return m.effect == skips && (m.cond == "" || worse(had, has, m) != "")
	}) {
		return true // a child or the mark has its own finding
	}
	a, words, closures := p.after.side, p.before.wordSet(), sync.OnceValue(p.after.closures)
	tier := change.Hold
	for i := p.after.at + 1; i < p.after.to; i++ {
		name := a.of(i)
		if a.kindOf(i) != word || common[name] || idleWords[name] || a.isLocal(i) && (words[name] || a.of(i+1) != "(" || !closures()[name]) {
			continue
		}
		given := a.named(i+2, nil) == "t" // a function that takes the test may fail it
		if (x.checks(name) || given && p.after.role != test) && !words[name] {
			return true
		}
		tier = change.Evidence
	}
	if p.after.role != test {
		return false
	}
	if x.pairs.assertsElsewhere(p.before) {
		tier = change.Evidence
	}
	x.say(tier, change.Test, "test/emptied", "The test "+p.after.name+" asserts nothing any more.",
		bothAt(p.before.side, p.before.line(), a, p.after.line()))
	return true
}

// closures are the functions of Go that the test around a unit defines before it, and that assert something: check := func(…) { … }.
func (u *unit) closures() map[string]bool {
	s, top, names, of := u.side, u, map[string]bool{}, map[int]string{}
	for top.parent != nil {
		top = top.parent
	}
	for i := top.body; i < u.from; i++ {
		if s.of(i) == "func" && s.of(i-1) == ":=" {
			open := s.past(i + 1)
			for open < min(u.from, i+maxHead) && s.of(open) != "{" {
				open++
			}
			of[open] = s.of(i - 2)
		}
	}
	for _, c := range top.assertions {
		for open := int(s.outer[c.from]); open >= top.body; open = int(s.outer[open]) {
			names[of[open]] = true
		}
	}
	return names
}

// checking matches names that say that a function asserts something.
var checking = regexp.MustCompile(`(?i)assert|check|require|expect|verify|must|should|equal|match|test|throw`)

// checks reports whether a function of this name asserts something, or has a name that says so.
func (x *examination) checks(name string) bool {
	return checking.MatchString(name) ||
		slices.ContainsFunc(x.pairs.after, func(u *unit) bool { return u.name == name && len(u.assertions) > 0 })
}

// without returns the readings of the assertions that are not in the other list.
func (s *side) without(list, other []assertion) (left []reading) {
	for _, c := range change.Without(list, other, func(c assertion) uint64 { return c.digest }) {
		left = append(left, s.read(c))
	}
	return left
}

// closest is the index of the assertion that shares the most words with c; -1 if none shares enough.
func closest(c reading, list []reading) int {
	best, at := 0.34, -1
	for i, d := range list {
		if score := min(share(c.words, d.words), 1) + share(d.words, c.words)/4; score > best {
			best, at = score, i
		}
	}
	return at
}

// patience is how a test waits and ignores failures.
type patience struct {
	times  map[string]int // how often it does each of [tolerating]
	line   map[string]int
	limits []time.Duration
	lines  []int // of the limits
}

// waiting matches names of limits and waits that a number follows.
var waiting = regexp.MustCompile(`(?i)(?:timeout|sleep|delay|wait)$`)

// patienceOf reads such words, and limits such as "200 * time.Millisecond", "Duration.ofSeconds(2)",
// "timeout: 5000" and "timeout=5".
func patienceOf(u *unit) patience {
	s, out := u.side, patience{times: map[string]int{}, line: map[string]int{}}
	limit := func(i int, unit time.Duration) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(s.of(i), "lLfF"), "_", ""), 64); err == nil &&
			s.kindOf(i) == number {
			out.limits, out.lines = append(out.limits, time.Duration(v*float64(unit))), append(out.lines, s.line(i))
		}
	}
	u.own(func(i int) {
		if s.kindOf(i) != word {
			return
		}
		name, next := s.of(i), s.of(i+1)
		if why := tolerating[name]; why != "" && next != ":" {
			out.times[why]++
			out.line[why] = s.line(i)
		}
		switch unit := durations[name]; {
		case unit > 0 && (next == "(" || next == ":"):
			limit(i+2, unit)
		case unit > 0 && s.of(i-1) == "." && s.of(i-3) == "*":
			limit(i-4, unit)
		case unit > 0 && s.of(i-1) == ".":
			limit(i-2, unit)
		case name == "TimeUnit" && s.of(i-1) == ",": // await(10, TimeUnit.SECONDS)
			limit(i-2, time.Second)
		case waiting.MatchString(name) && slices.Contains([]string{":", "=", "(", `\`}, next): // a command of a shell goes on after "\"
			limit(i+2, time.Second)
		case waiting.MatchString(name):
			limit(i+1, time.Second)
		}
	})
	return out
}

// longer is the factor from which a longer limit is reported.
const longer = 1.25

// comparePatience finds failures that are now ignored, and limits that are longer than before.
func (x *examination) comparePatience(p pair) {
	had, has := patienceOf(p.before), patienceOf(p.after)
	for why, n := range has.times {
		if n > had.times[why] && (len(p.after.assertions) <= len(p.before.assertions) || strings.HasPrefix(why, "waits")) {
			x.say(change.Evidence, change.Assertion, "assertion/tolerates", "The test "+why+" where it did not.",
				p.after.side.headAt(has.line[why]))
		}
	}
	x.compareLimits(had, has, p.before.side, p.after.side)
}

// compareLimits compares the limits of two versions of a test, or of the code around the tests of a file.
func (x *examination) compareLimits(had, has patience, before, after *side) {
	for i, limit := range has.limits {
		if len(had.limits) == len(has.limits) && had.limits[i] > 0 && (limit == 0 || float64(limit) >= longer*float64(had.limits[i])) {
			x.say(change.Evidence, change.Assertion, "assertion/longer-limit", "The test waits for longer than it did.",
				bothAt(before, had.lines[i], after, has.lines[i]))
		}
	}
}

// around is a unit of the code of a file of tests, or of a module of tests in another file, that is outside the tests and the
// functions that they call; nil if there is none.
func (s *side) around() *unit {
	u := &unit{side: s, to: len(s.tokens)}
	if !s.tests {
		i := slices.IndexFunc(s.units, func(u *unit) bool { return u.role == group })
		if i < 0 {
			return nil
		}
		u.from, u.body, u.to = s.units[i].from, s.units[i].from, s.units[i].to
	}
	for _, c := range s.checked() {
		if c.from < u.from || c.to > u.to {
			continue
		}
		if n := len(u.children); n == 0 || c.from >= u.children[n-1].to {
			u.children = append(u.children, c)
		}
	}
	return u
}
