package code

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/table"
)

// effect is the effect of a mark on a test.
type effect string

const (
	skips  effect = "skip"             // the test does not run
	fails  effect = "fail"             // the test's failure is expected
	focus  effect = "focus"            // the other tests do not run
	retry  effect = "retry"            // the test may fail before it passes
	tag    effect = "tag"              // runners can exclude the test by a name
	either effect = "fail-or-pass"     // an expected failure may also pass
	leaves effect = "returns"          // the test ends before it checks anything
	built  effect = "build-constraint" // the test's file is not built on some systems, or without a tag
)

// mark is something that keeps a test from running or failing.
type mark struct {
	effect effect
	cond   string // the condition; "" for always
	line   int
	at     int // its token
}

// like reports whether a mark says the same as another one.
func (m mark) like(o mark) bool { return m.effect == o.effect && m.cond == o.cond }

// maxMarks bounds the marks of one test, and of one file.
const maxMarks = 100

//go:embed marks.txt
var marksText string

// The names of marks on tests, as marks.txt explains them.
var (
	marks       = table.Read(marksText)
	annotations = effectsOf("annotations")
	callees     = effectsOf("callees")
	chained     = effectsOf("chained")
	options     = effectsOf("options")
	aspects     = effectsOf("aspects")
)

// effectsOf returns the effects of a section's names.
func effectsOf(section string) map[string]effect {
	return valued(marks, section, func(e string) effect { return effect(e) })
}

// add adds a mark at a token.
func (s *side) add(to *[]mark, e effect, cond string, i int) {
	if len(*to) < maxMarks {
		*to = append(*to, mark{e, cond, s.line(i), i})
	}
}

// add adds a mark at a token of a unit. An "#if" around the mark is its condition, unless it is around the whole unit:
// then it is a mark of its own.
func (u *unit) add(e effect, cond string, i int) {
	u.side.add(&u.marks, e, cmp.Or(cond, u.guardOf(i)), i)
}

// guardOf is the condition of the preprocessor around a token, but not around its whole unit; "" for none.
func (u *unit) guardOf(i int) string {
	for _, g := range u.side.guards {
		if g.from <= i && i < g.to && (u.from < g.from || g.to < u.to) {
			return g.cond
		}
	}
	return ""
}

// effective returns a test's marks and the marks of everything around it.
func (u *unit) effective() []mark {
	out := slices.Clone(u.marks)
	for p := u.parent; p != nil; p = p.parent {
		out = append(out, p.marks...)
	}
	return append(out, u.side.marks...)
}

// mayNotHaveRun says of a test what [unit.spared] does.
const mayNotHaveRun = "does not run any more, in place of a mark by which it could be left out before."

// leftOut matches marks by whose names runners leave out tests that have a problem.
var leftOut = regexp.MustCompile(`(?i)(?:^|"|\. )(?:flaky|quarantined?|broken|disabled|badapple)(?:tests?)?(?: |"|$)`)

// spared reports whether a test is skipped in place of a mark, of its own or of what is around it, by which it could be left out.
func (u *unit) spared(before *unit, m mark) bool {
	says := func(s *side, m mark) string {
		if s.of(m.at+1) != "(" {
			return s.of(m.at)
		}
		return s.of(m.at) + " " + s.arguments(m.at+1)
	}
	return m.effect == skips && slices.ContainsFunc(before.effective(), func(h mark) bool {
		was := says(before.side, h)
		return h.effect == tag && leftOut.MatchString(was) &&
			!slices.ContainsFunc(u.effective(), func(n mark) bool { return n.effect == tag && says(u.side, n) == was })
	})
}

// markUnit reads the marks of a test or of a unit around tests.
func (s *side) markUnit(u *unit) {
	called := s.lang.calls[u.word] || s.lang.groups[u.word] || s.lang.infix[u.word] != definition
	if called {
		s.callMarks(u)
	} else {
		s.headMarks(u)
	}
	if macro := s.lang.macros[u.word]; macro && callees[u.word] == skips || (macro || called) && matchesAny(s.lang.off, u.name) {
		u.add(skips, "", u.at)
	}
	if called && s.lang.name == "Kotlin" && strings.HasPrefix(u.name, "f:") { // Kotest
		u.add(focus, "", u.at)
	}
	if s.lang.ruby && (s.of(u.to) == "if" || s.of(u.to) == "unless") && !s.tokens[u.to].first { // a condition after the block: "end if …"
		u.add(skips, s.lineOf(u.to), u.to)
	}
	if u.role != test {
		if s.lang.ruby {
			s.hide(u)
		}
		return
	}
	if u.unlisted() {
		u.add(skips, "", u.at)
	}
	if s.lang.python { // it asks for a fixture that skips
		for i := u.at + 2; i < u.body; i++ {
			if s.skippers[s.of(i)] && s.kindOf(i) == word {
				u.add(skips, "", i)
			}
		}
	}
	if called || s.lang.python || s.lang.ruby {
		for _, c := range s.conditionsAt(u.from, 0) {
			if s.of(c.at) == "quarantine!" { // mspec runs nothing of it
				c.text = ""
			}
			u.add(skips, c.text, c.at)
		}
	}
	for _, g := range s.guards {
		if g.from <= u.from && u.to <= g.to {
			u.add(skips, g.cond, g.from)
		}
	}
	s.bodyMarks(u, u.add)
}

func matchesAny(patterns []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}

// arguments is the text in the brackets that a token opens.
func (s *source) arguments(open int) string { return s.plain(open+1, s.mate(open)) }

// callMarks reads the marks of a call from its name, the words after its dots, and its options.
func (s *side) callMarks(u *unit) {
	if e := callees[u.word]; e != "" {
		u.add(e, "", u.at)
	}
	if a := s.aliases[s.of(u.at)]; a.word != "" {
		u.add(skips, a.cond, u.at)
	}
	for _, i := range u.chain {
		next := i + 1
		if s.of(next) == "]" { // it['skip']
			next++
		}
		switch name := contentOf(s.of(i)); {
		case chained[name] != "" && s.of(i-1) == "->" && s.kindOf(i+2) != text && s.of(i+2) != ")":
			u.add(chained[name], s.arguments(i+1), i) // Pest: ->skip(condition)
		case chained[name] != "":
			u.add(chained[name], "", i)
		case chained[name+"?"] != "" && s.of(next) == "(":
			cond := s.arguments(next)
			if s.of(i-1) == "->" {
				cond = name + " " + cond
			} else if name != "skipIf" {
				cond = "! " + cond
			}
			u.add(skips, cond, i)
		case u.under(opposite(name)):
			u.add(skips, "", i)
		}
	}
	s.after(u)
	for i := u.at + 1; i < min(u.body, u.at+maxHead); i++ {
		s.option(u, i)
	}
	if s.lang.layout != braces || u.body == 0 {
		return
	}
	for i := s.pastBody(u); i < u.to; i++ { // options after the body
		s.option(u, i)
	}
}

// pastBody is the token behind the body of a call: the bracket that closes it, or the comma behind an argument with an expression.
func (s *side) pastBody(u *unit) int {
	if end := s.mate(u.body - 1); end > 0 {
		return end
	}
	for i := u.body; i < u.to; i++ {
		if o := s.outer[i]; s.of(i) == "," && o >= 0 && s.outer[o] == s.outer[u.at] {
			return i
		}
	}
	return u.to
}

// opposite is the word of a chain, as projects define them, that keeps what has another one from running: ifLinux, ifNotLinux.
func opposite(name string) string {
	switch what, is := strings.CutPrefix(name, "if"); {
	case !is || what == "" || what == "Not": // those of other conditions, in brackets
		return ""
	case strings.HasPrefix(what, "Not"):
		return "if" + what[len("Not"):]
	default:
		return "ifNot" + what
	}
}

// under reports whether a unit is in one with such a word.
func (u *unit) under(name string) bool {
	for p := u.parent; p != nil && name != ""; p = p.parent {
		if slices.ContainsFunc(p.chain, func(i int) bool { return p.side.of(i) == name }) {
			return true
		}
	}
	return false
}

// unlisted reports whether the file of a test of Swift lists those that run where no runtime finds them, and has this one there in a
// comment, or as one that is expected to fail. One that it has not at all may be newer than a list that nobody needs any more.
func (u *unit) unlisted() bool {
	s := u.side
	runs := func(i int) bool { return i != u.at && !strings.HasSuffix(s.of(int(s.outer[i])-1), "ExpectedToFail") }
	return s.lang.name == "Swift" && s.mentions("allTests") && strings.Contains(s.text, `("`+u.name+`",`) &&
		!slices.ContainsFunc(s.places(u.name), runs)
}

// listed leaves out of the marks of a test that its file's list of tests lacks it, if it did before and the list stays: a runtime may
// have found it all the same.
func (p pair) listed(had, has []mark) (before, after []mark) {
	if !p.before.unlisted() || !p.after.side.mentions("allTests") {
		return had, has
	}
	without := func(all []mark, at int) []mark {
		return slices.DeleteFunc(all, func(m mark) bool { return m.at == at })
	}
	return without(had, p.before.at), without(has, p.after.at)
}

// after reads the marks behind a test.
func (s *side) after(u *unit) {
	i := u.to
	if s.lang.behind == nil || s.of(i) != "@" && s.of(i) != "@@" && s.of(i) != "." || s.tokens[i].first && s.of(i) == "@" {
		return
	}
	for n := i + 1; n < i+5 && (s.kindOf(n) == word || s.of(n) == "." || s.of(n) == "@"); n++ {
		if e := s.lang.behind[s.of(n)]; e != "" {
			cond := ""
			if e == skips && s.of(n) != "ignore" {
				cond = s.of(n)
			}
			u.add(e, cond, n)
		}
	}
}

// optionForms are the options of calls that are not written as a name and a value.
var optionForms = byWord(map[string][]form{
	"Scala": each(chained, form{before: `" .`}), // MUnit: test("…".ignore)
	"Go":    each(chained, form{before: ","}),   // Ginkgo: It("…", Pending, …)
	"PowerShell": { // Pester: It "…" -Skip:$condition
		{words: switches, before: "-", after: ": $false"},
		{words: switches, before: "-", after: ": $true", effect: skips},
		{words: switches, before: "-", after: ":", effect: skips, cond: ifValue},
		{words: switches, before: "-", effect: skips},
	},
	"Kotlin": { // Kotest
		{words: "enabled", after: "= false", effect: skips},
		{words: "enabledIf", after: "=", effect: skips, cond: unlessValue},
		{words: "retries", after: "=", effect: retry},
		{words: "tags", after: "=", effect: tag},
	},
})

// switches are the options that skip a test, as PowerShell has them.
var switches = marks.Pairs("options")["skip"]

var (
	ifValue     = func(s *side, i int) string { return "if " + s.plain(i+2, max(i+2, s.mate(i+2))+1) }
	unlessValue = func(s *side, i int) string { return "! " + s.plain(i+2, s.mate(i+2)) }
)

// option reads one option of a call such as "skip: true" or, in Ruby, ":skip" and ":skip => broken".
func (s *side) option(u *unit, i int) {
	if f := s.formOf(optionForms, i); f != nil {
		if f.effect != "" {
			u.add(f.effect, f.condition(s, i), i)
		}
		return
	}
	e, symbol, not := options[s.of(i)], s.lang.layout == ends && s.of(i-1) == ":", ""
	colon := s.of(i+1) == ":" && s.tokens[i+1].from == s.tokens[i].to
	if s.lang.ruby && (symbol && s.of(i+1) == "=>" || colon) && (s.of(i) == "if" || s.of(i) == "unless") { // filters of RSpec
		e = skips
		if s.of(i) == "if" {
			not = "! "
		}
	}
	if e == "" || s.tokens[i].kind != word || s.depth(i)-s.depth(u.at) > 2 {
		return
	}
	switch value := s.of(i + 2); {
	case s.shorthand(i):
		u.add(e, "value of "+s.of(i), i)
	case symbol && s.of(i+1) != "=>":
		u.add(e, "", i)
	case !symbol && s.of(i+1) != ":" || value == "false" || value == "null" || value == "nil" || value == "0":
	case value == "true" || s.kindOf(i+2) == text || s.kindOf(i+2) == number:
		u.add(e, "", i)
	default:
		last := i + 2
		for last < u.to && s.of(last) != "," && s.of(last) != "}" && s.of(last) != ")" && (s.lang.layout != ends || s.of(last) != "do") {
			last++
		}
		u.add(e, not+s.plain(i+2, last), i)
	}
}

// shorthand reports whether a JavaScript option, as in test("…", { skip }, …), takes its value from the
// variable of its name.
func (s *side) shorthand(i int) bool {
	open := int(s.outer[i])
	ends := func(t, bracket string) bool { return t == "," || t == bracket }
	return s.lang.name == "JavaScript" && open > 0 && s.of(open-1) == "," && ends(s.of(i-1), "{") && ends(s.of(i+1), "}")
}

// depth is the number of brackets around a token, counted up to four.
func (s *source) depth(i int) (n int) {
	for o := s.outer[i]; o >= 0 && n < 4; o = s.outer[o] {
		n++
	}
	return n
}
