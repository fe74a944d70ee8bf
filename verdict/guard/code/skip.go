package code

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
)

// effects describe, as the end of a sentence, what a mark does.
var effects = map[effect]string{
	skips:  "does not run any more.",
	fails:  "may fail now without being seen.",
	focus:  "runs, and the others of its file do not.",
	retry:  "may fail before it passes.",
	either: "may fail or pass now, and was expected to fail.",
	tag:    "has a mark by which runners can leave it out.",
	leaves: "ends before it checks anything.",
	built:  "is built for fewer systems, or only with a tag.",
}

// manyMarked is the number of tests from which the same new condition counts as a new way to run the tests,
// which some tests do not support yet, and not as a way to keep them from running.
const manyMarked = 6

// gained is a mark that a test did not have before.
type gained struct {
	pair
	mark
	tier change.Tier
}

// compareMarks finds tests that existed and are now kept from running or failing.
func (x *examination) compareMarks(pairs []pair) {
	var all []gained
	same := map[string]int{}
	type place struct {
		mark
		side *side
	}
	seen, skipping := map[place]bool{}, x.skipping()
	for _, p := range pairs {
		if p.after.role != test && !p.after.inherits() || x.passed(p.after) {
			continue
		}
		had, has := p.listed(p.before.effective(), append(p.after.borrowed(skipping), p.after.effective()...))
		for _, m := range has {
			at := place{m, p.after.side}
			helper, value, _ := strings.Cut(m.cond, " ")
			if m.effect == skips && (p.before.side.leavers[helper] || p.before.passesOver(m.cond) || p.after.repeats(had, m)) ||
				strings.HasPrefix(m.cond, ofCase) && !p.before.lists(value) {
				continue // it ended early before, and is reported as skipped now; or the case is new
			}
			if tier := worse(had, has, m); tier != "" && !seen[at] && !(m.effect == built && x.builds[path.Dir(p.after.side.path)] == m.cond) {
				seen[at] = true
				same[m.cond]++
				all = append(all, gained{p, m, tier})
			}
		}
	}
	told, only := map[string]bool{}, sync.OnceValue(func() bool { return x.onlyLeavesOut(all) })
	novel := sync.OnceValue(x.novel)
	founds := func(cond string) bool { // what it has as a value is new
		return slices.ContainsFunc(quotedWord.FindAllString(strings.ToLower(cond), -1), func(w string) bool { return novel()[contentOf(w)] })
	}
	for _, g := range all {
		x.said[g.before] = true
		many, sure := g.cond != "" && same[g.cond] >= manyMarked, g.after.side.certain(g.cond)
		spared := g.after.spared(g.before, g.mark)
		switch {
		case many && told[g.cond]:
			continue // one finding stands for all
		case spared, untaken(g.after.side.path, g.before.side.path), !sure && g.asksAgain(), !g.same(), g.before.endless(),
			!sure && founds(g.cond), g.always() && !g.after.side.troubled(g.line),
			g.after.asks(g.cond) && g.before.side.all(guard{from: g.before.from, to: g.before.body}) !=
				g.after.side.all(guard{from: g.after.from, to: g.after.body}), // it may be for further cases
			g.before.role == test && len(g.before.assertions) == 0 && g.before.size < 2 && len(g.after.assertions) > 0: // it is written now
			g.tier = change.Evidence
		case g.effect == tag && g.after.side.troubled(g.line), g.cond != "" && (g.tier == change.Hold || g.effect == retry) &&
			(!many && g.after.side.troubled(g.line) || x.troubles(g.cond)):
			g.tier = change.Hold // the reason is a problem of the test, not a missing requirement
		case g.effect == skips && !sure && !many && fitsNot(g.cond) && !g.elsewhere() && only():
		case (g.effect == skips || g.effect == leaves) && !sure, x.subject.beyond && (g.effect == leaves || g.effect == fails && !sure):
			g.tier = change.Evidence
		case g.effect == fails && g.before.digest != g.after.digest &&
			(g.after.side.lang.rust || g.asksMore()):
			g.tier = change.Evidence // the test now asserts a panic, or what may fail are further assertions
		}
		told[g.cond] = true
		what := effects[g.effect]
		switch {
		case g.effect == skips && !sure:
			what = "does not always run any more."
		case spared:
			what = mayNotHaveRun
		}
		x.say(g.tier, change.Test, "test/"+string(g.effect), "The test "+g.after.name+" "+what, g.after.side.headAt(g.line))
	}
	x.compareFocus()
	x.compareSetup()
}

// repeats reports whether a mark is a call of a function of the same file that skips on conditions on which the test was
// skipped before: they moved there. A condition that names a parameter is another one.
func (u *unit) repeats(had []mark, m mark) bool {
	i := slices.IndexFunc(u.side.units, func(d *unit) bool { return d.role == definition && d.name == u.side.of(m.at) })
	if i < 0 {
		return false
	}
	d := u.side.units[i]
	all := d.skips()
	return len(all) > 0 && !slices.ContainsFunc(all, func(s mark) bool {
		names := wordsIn(s.cond)
		given := among(d.at+1, d.body, func(i int) bool { return slices.Contains(names, u.side.of(i)) })
		return given || !slices.ContainsFunc(had, s.like)
	})
}

var (
	// versioned matches conditions that ask for a version, operator an argument that compares it, less and more what says that it is lower
	// or higher than another one, and running conditions on which a test runs.
	versioned = regexp.MustCompile(`(?i)version|requiresphp|otp_release`)
	operator  = regexp.MustCompile(` , "([<>]=?)"`)
	less      = regexp.MustCompile(`[ "]<=?[ "]`)
	more      = regexp.MustCompile(`[ "]>=?[ "]`)
	running   = regexp.MustCompile(`(?i)^(?:assume|unless|enabled|requires|skipunless)`)
)

// elsewhere reports whether a skip stands in one branch of a preprocessor's condition and all that the test asserts in the other: it
// cannot be compiled where it is skipped.
func (g gained) elsewhere() bool {
	s := g.after.side
	within := func(a guard, i int) bool { return a.from <= i && i < a.to }
	return len(g.after.assertions) > 0 && slices.ContainsFunc(s.guards, func(a guard) bool {
		return within(a, g.at) && slices.ContainsFunc(s.guards, func(b guard) bool {
			return b.from == a.to && !slices.ContainsFunc(g.after.assertions, func(c assertion) bool { return !within(b, int(c.from)) })
		})
	})
}

// passesOver reports whether a test catches what a condition catches, and does nothing about it.
func (u *unit) passesOver(cond string) bool {
	catches := func(word string) bool { return strings.HasPrefix(cond, word) }
	return slices.ContainsFunc([]string{"except ", "rescue ", "catch "}, catches) &&
		strings.Contains(u.side.plain(u.body, u.to), cond+" pass")
}

// namesIn are the names in a condition, without the words that conditions are written with.
func namesIn(cond string) string {
	all := wordsIn(cond)
	return strings.Join(slices.DeleteFunc(all, func(w string) bool { return fixed[w] }), " ")
}

// always reports whether a test that is always skipped was skipped on a condition whose names are gone from its file:
// the condition always held.
func (g gained) always() bool {
	return g.cond == "" && slices.ContainsFunc(g.before.effective(), func(h mark) bool {
		names := strings.Fields(namesIn(h.cond))
		return h.effect == g.effect && len(names) > 0 && !strings.HasPrefix(h.cond, "#if") &&
			!slices.ContainsFunc(names, g.after.side.mentions)
	})
}

// mentions reports whether a file has a word outside of literals.
func (s *side) mentions(name string) bool { return len(s.places(name)) > 0 }

// places are the tokens of a file that are a word.
func (s *side) places(name string) []int {
	if s.wordsOfAll == nil {
		s.wordsOfAll = map[string][]int{}
		for i := range s.tokens {
			if s.kindOf(i) == word {
				s.wordsOfAll[s.of(i)] = append(s.wordsOfAll[s.of(i)], i)
			}
		}
	}
	return s.wordsOfAll[name]
}

// anyCondition matches names of functions that skip on whatever condition they are given.
var anyCondition = regexp.MustCompile(`(?i)(?:if|when|unless|on)$`)

// asksAgain reports whether a mark calls a function that skips for one reason, which the test called before with something else.
func (g gained) asksAgain() bool {
	s, name := g.after.side, g.after.side.of(g.at)
	return s.skipHelper(g.at) && !anyCondition.MatchString(name) && slices.ContainsFunc(g.before.effective(), func(h mark) bool {
		return h.effect == g.effect && g.before.side.of(h.at) == name && g.before.side.skipHelper(h.at)
	})
}

// endless reports whether a test asserts nothing and waits for ever: a program that people run as a test.
func (u *unit) endless() bool {
	words := u.wordSet()
	return len(u.assertions) == 0 && slices.ContainsFunc(forever, func(w string) bool { return words[w] })
}

// asksMore reports whether a failure is expected of further assertions only: as many as before stand before the call that
// expects it or behind its block, and none of the earlier ones is covered. One that ran on a condition may be covered where
// it did not run.
func (g gained) asksMore() bool {
	s, from, to := g.after.side, 0, g.after.to
	g.after.own(func(i int) {
		if f, is := s.bodyForm(i); from > 0 || s.line(i) != g.line || !is || f.effect != fails {
			return
		}
		from = i
		if end := s.statementEnd(i); strings.Contains(s.all(guard{from: i, to: end}), "{") {
			to = end
		}
	})
	masked, covered, spared := s.all(guard{from: from, to: to}), map[uint64]bool{}, map[uint64]bool{}
	left := 0
	for _, c := range g.after.assertions {
		if from <= int(c.from) && int(c.from) < to {
			covered[c.digest] = true
		} else {
			spared[c.digest], left = true, left+1
		}
	}
	for _, c := range g.before.assertions {
		around := g.before.side.conditionsAt(int(c.from), g.before.body)
		switch {
		case len(around) > 0 && equal.MatchString(around[0].text) &&
			strings.Contains(masked, "when : { "+negation.Replace(around[0].text)+" }"):
			left++
		case covered[c.digest] && !spared[c.digest]:
			return false
		}
	}
	return left >= len(g.before.assertions)
}

// equal matches an "if" that compares two values. Negation makes of it the condition on which it does not hold.
var (
	equal    = regexp.MustCompile(`^if [^|]+ [!=]= [^|]+$`)
	negation = strings.NewReplacer("if ", "", "==", "!=", "!=", "==")
)

// leavesOut matches names of functions that leave out tests, or parts of what tests compare.
var leavesOut = regexp.MustCompile(`(?i)skip|ignor|exclud|^filter`)

// skips are the ways in which a function can skip the test that calls it.
func (u *unit) skips() (all []mark) {
	u.side.bodyMarks(u, func(e effect, cond string, i int) {
		if e == skips {
			u.side.add(&all, e, cond, i)
		}
	})
	return all
}

// compareSetup finds files without tests that keep other tests from running or retry them, and changed
// functions whose names say that they choose which tests are skipped.
func (x *examination) compareSetup() {
	for _, a := range x.pairs.after {
		b := x.pairs.of[a]
		if a.role != definition || b == nil || a.digest == b.digest {
			continue
		}
		had, has := b.skips(), a.skips()
		fresh := slices.IndexFunc(has, func(m mark) bool {
			return !slices.ContainsFunc(had, func(h mark) bool { return h.cond == m.cond })
		})
		further, named := fresh >= 0 && len(has) > len(had), leavesOut.MatchString(a.name)
		tier := change.HoldIf(further && (named && !x.subject.beyond || a.side.certain(has[fresh].cond) || a.side.troubled(has[fresh].line)))
		// Tests of other files call it, and need not be part of the change.
		shared := a.side.skippers[a.name] && !b.side.skippers[a.name] && !a.side.holdsTests()
		if named || shared || further && len(had) > 0 && !a.setsUp() {
			if shared {
				tier = change.Hold
			}
			x.say(tier, change.Test, "test/setup", "What "+a.name+" says of which tests are left out is changed.",
				bothAt(b.side, b.line(), a.side, a.line()))
		}
	}
	for _, s := range x.after {
		for _, m := range s.marks {
			if !(s.other != nil && slices.ContainsFunc(s.other.marks, m.like)) && len(s.having(test)) == 0 && m.effect != built {
				x.say(change.Evidence, change.Test, "test/setup", "Tests that this file sets up can be left out, or tried again.", s.headAt(m.line))
			}
		}
	}
}

// worse is the tier of a test's mark that the earlier marks do not cover; "" if they do.
func worse(had, has []mark, m mark) change.Tier {
	tier := change.HoldIf((m.effect != retry || m.cond == "") && m.effect != tag && m.effect != either)
	if m.effect == either && !slices.ContainsFunc(had, func(h mark) bool { return h.effect == fails }) {
		return "" // that it may fail is worse
	}
	for _, h := range had {
		if h.effect == skips && h.cond == "" && (m.effect == fails || m.effect == leaves && m.cond != "") {
			return "" // it did not run at all
		}
		switch ended := h.effect == leaves && m.effect == skips; { // the test ended early before
		case ended && h.cond == "":
			return ""
		case ended && m.cond != "" && !strings.HasPrefix(m.cond, ofCase):
			tier = change.Evidence
		}
		kept := slices.ContainsFunc(has, h.like)
		if value, is := strings.CutPrefix(m.cond, ofCase); is && !kept && slices.ContainsFunc(strings.Fields(value), func(w string) bool {
			return len(w) > 1 && strings.Contains(h.cond, w)
		}) {
			tier = change.Evidence // what left the case out before may be this, written differently
		}
		if h.effect != m.effect {
			continue
		}
		switch {
		case h.cond == "" || h.cond == m.cond:
			return ""
		case m.cond == "", strings.HasPrefix(h.cond, ofCase), strings.HasPrefix(m.cond, ofCase):
		case strings.HasPrefix(h.cond, "#if") && strings.HasPrefix(m.cond, "#if") && !widened(h.cond, m.cond):
			return "" // only the list of platforms changed
		case widened(h.cond, m.cond), kept:
		default:
			tier = change.Evidence
		}
	}
	return tier
}

// never reports whether a condition of the preprocessor is never true.
func never(cond string) bool {
	return strings.HasPrefix(cond, "#if false") || strings.HasPrefix(cond, "#if 0") || strings.HasPrefix(cond, "#if (false")
}

// widened reports whether a condition is another one with a further alternative.
func widened(before, after string) bool {
	if strings.HasPrefix(before, after+" && ") || strings.HasPrefix(before, after+" and ") { // it requires less
		return true
	}
	return len(after) > len(before) && strings.Contains(after, strings.TrimSuffix(before, " )")) &&
		(strings.Contains(after, "||") || strings.Contains(after, " or "))
}

// trouble matches words with which people say that a test is left out because of a problem. What "does not work" somewhere, or has
// an issue of its own, is as often something that a system lacks, and a temporary file or directory is what many tests use.
var trouble = regexp.MustCompile(`(?i)flak(?:y|ey|iness)|unreliab|unstable|intermittent|broken|fails|crash|hangs|hanging|temporarily|` +
	`\btemporary(?:\W*$|\s*[.,;:)!]| (?:disabl|exclu|fix|hack|ignor|measure|mut|quarantin|skip|solution|until|while|workaround))|` +
	`for now|blocked by|investigat|\btim(?:es|ed|ing) out\b|failing on|are fixed|is (?:fixed|released|resolved|merged)`)

// aroundMark is the number of lines above and below a mark in which its reason may be.
const aroundMark = 3

// troubles reports whether a condition calls a new function that skips tests because of trouble.
func (x *examination) troubles(cond string) bool {
	name, _, _ := strings.Cut(cond, " ")
	return slices.ContainsFunc(x.pairs.after, func(u *unit) bool {
		return u.role == definition && u.name == name && x.pairs.of[u] == nil &&
			slices.ContainsFunc(u.skips(), func(m mark) bool { return u.side.troubled(m.line) })
	})
}

// troubled reports whether a new line around a line mentions trouble, and not only in a text that was there, such as the title of a test.
func (s *side) troubled(line int) bool {
	anew := func(text string) string {
		said := strings.Trim(text, "\"'`")
		if s.other != nil && strings.Count(s.other.text, said) >= strings.Count(s.text, said) {
			return ""
		}
		return text
	}
	for n := max(1, line-aroundMark); n <= line+aroundMark; n++ {
		text := s.lineText(n)
		if trouble.MatchString(text) && trouble.MatchString(quotedText.ReplaceAllStringFunc(anew(text), anew)) {
			return true
		}
	}
	return false
}

// quotedText matches texts in quotes, as most languages write them.
var quotedText = regexp.MustCompile(`"[^"]*"|'[^']*'|` + "`[^`]*`")

// inFunction reports whether a call that makes a test is in a function, which may or may not be called.
func (u *unit) inFunction() bool {
	for p := u.parent; p != nil; p = p.parent {
		if len(u.side.lang.groups) > 0 && u.side.lang.calls[u.word] && !u.side.lang.groups[p.word] && p.word != "var" {
			return true
		}
	}
	return false
}

// callsInherited reports whether a test calls the inherited one of its name: super().test_pay().
func (u *unit) callsInherited() (does bool) {
	s := u.side
	u.own(func(i int) {
		of := i - 2
		if s.of(of) == ")" && s.mate(of) > 0 {
			of = s.mate(of) - 1
		}
		does = does || s.of(i) == u.name && (s.of(i-1) == "." || s.of(i-1) == "::") && inherited[s.of(of)]
	})
	return does
}

// marked reports whether the function was skipped, or expected to fail, as often before, though it may have been no test of
// its own.
func (u *unit) marked(as mark) bool {
	return slices.ContainsFunc(u.side.other.units, func(b *unit) bool {
		beside := b.parent == u.parent || b.parent != nil && u.parent != nil && b.parent.name == u.parent.name
		return b.name == u.name && beside && slices.ContainsFunc(b.marks, func(m mark) bool {
			return (m.effect == skips || m.effect == fails) && (m.cond == as.cond || b.side.certain(m.cond))
		})
	})
}

// focuses reports whether a test is marked to run alone, and is not skipped.
func focuses(u *unit) bool {
	skipped := slices.ContainsFunc(u.effective(), func(m mark) bool { return m.effect == skips || m.effect == leaves })
	return !skipped && slices.ContainsFunc(u.marks, func(m mark) bool { return m.effect == focus })
}

// compareFocus finds new tests that keep the old ones, or inherited ones, from running.
func (x *examination) compareFocus() {
	around := func(u *unit) string { return strings.TrimSuffix(u.path(), u.name) }
	focused := map[*side]map[string]bool{} // by the files of before and what is around a test: where one was focused, and still is
	for b, a := range x.pairs.of {
		if focuses(b) && focuses(a) {
			if focused[b.side] == nil {
				focused[b.side] = map[string]bool{}
			}
			focused[b.side][around(b)] = true
		}
	}
	for _, a := range x.pairs.after {
		if x.pairs.of[a] != nil || a.inFunction() || a.role != test && !a.overrides() {
			continue
		}
		beside := func() bool {
			return slices.ContainsFunc(a.side.units, func(u *unit) bool { return u.role == test && x.pairs.of[u] != nil })
		}
		for _, m := range a.effective() {
			switch {
			case m.effect == focus && beside() && !focused[a.side.other][around(a)]: // else it only runs too
				x.say(change.HoldIf(a.side.tests), change.Test, "test/focus", "The test "+a.name+" "+effects[focus], a.side.headAt(m.line))
			case a.side.other == nil || m.effect != skips && m.effect != fails || !slices.Contains(a.marks, m) || a.marked(m):
			default:
				was := -1
				if a.overrides() && a.parent != nil {
					was = slices.IndexFunc(a.side.other.units, func(u *unit) bool { return u.name == a.parent.name })
				}
				sure, what := was >= 0, effects[m.effect]
				spared := sure && a.spared(a.side.other.units[was], m)
				if spared {
					what = mayNotHaveRun
				}
				if sure || a.callsInherited() {
					x.say(change.HoldIf(sure && !spared), change.Test, "test/overridden", "The inherited test "+a.name+" "+what,
						a.side.headAt(m.line))
				}
			}
		}
	}
}
