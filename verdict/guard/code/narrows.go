package code

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/words"
)

// narrows is the line of what is new in a part of a test file and may pass over something: a condition, a part of one, another
// literal for an arm of Rust's match, an argument of a call that was there before, an annotation or an option of a test, a word
// that turns what a test does, a name that says that something is left out or takes longer or, outside of tests, the name of one.
// It is 0 for none.
func (a altered) narrows(names map[string]bool) (line int) {
	s, said, read := a.after.side, a.before.wordSet(), 0
	replaces := func(i int) (does bool) {
		if i >= read && replacing.MatchString(s.of(i)) {
			end := s.statementEnd(i)
			does, read = s.replaces(i, end), end // further stand-ins in the rest of the statement do no more
		}
		return does
	}
	narrows := func(i int, says string) bool {
		open, in := int(s.outer[i]), s.unitAt(i)
		call := open > 0 && s.of(open-1) != "import" && (s.of(open) == "(" && s.kindOf(open-1) == word && a.fresh[s.normal(open-1)] == 0 ||
			s.of(open) == "[" && s.closes(open-1) && !s.annotation(i)) // a part of a list
		if call && in != nil && open-1 == in.at && among(in.from, in.at, func(n int) bool { return replacing.MatchString(s.of(n)) }) {
			call = false // Python's @patch gives the test a stand-in
		}
		if call && s.marksTest(open-1) && (usualMarks[says] || s.kindOf(i) == text && (s.of(i-1) == "(" || usualMarks[s.of(i-2)])) {
			call = false // its name: [Fact(DisplayName = "…")], @Test("…")
		}
		arm := s.lang.rust && s.kindOf(i) == text && (s.of(i-1) == "|" || s.of(i+1) == "|")
		if s.lang.python && says == "async" && a.after.role == test && !s.looped() {
			return true // unittest does not wait for it, and nor does pytest by itself
		}
		if in != nil && in != a.after && in.role != definition &&
			!slices.ContainsFunc(a.before.side.units, func(u *unit) bool { return u.name == in.name }) {
			return false // in a test or a group that is new
		}
		if call && (s.lang.name == "Go" && s.of(open-1) == "func" || s.closureFrom(open+1, i)) {
			call = false // a parameter, or a statement of a function among the arguments
		}
		// Rust has #[case(1)], and regular expressions have a method match
		decides := deciding[says] && !s.annotation(i) && s.of(i-1) != "." || s.lang.shell && s.of(i-1) == "|" ||
			says == "go" && s.lang.name == "Go"
		if narrows := decides || call || arm || s.inCondition(i); narrows || in != nil && in.at == i {
			return narrows
		}
		if in != nil && in.role != definition && i < in.body {
			return a.fresh["case"] == 0 && in.marksAnew(i, said[says]) || replaces(i)
		}
		named := a.after.role != test && slices.ContainsFunc(wordsIn(says), func(w string) bool { return names[w] })
		return named || s.kindOf(i) == word && (s.turns(turning, i) || replaces(i) || words.Eases(says))
	}
	var had, has map[string]int
	tested := a.after.role == test || len(s.having(test)) > 0 // elsewhere a block may be run for each test
	a.after.telling(func(i int, says string) {
		if line > 0 || a.fresh[says] == 0 {
			return
		}
		if has == nil {
			had, has = a.before.lineTexts(), a.after.lineTexts()
		}
		begins := func(line int) bool { // another "else" may be the one that was there
			return line > 0 && had[s.lineText(line)] == 0 && has[s.lineText(line)] > 0
		}
		at := s.line(i)
		if has[s.lineText(at)] <= had[s.lineText(at)] {
			return
		}
		leaves := leaving[says] // the test, if no function of the new block ends
		inner := tested && i >= a.after.body && !(s.kindOf(i) == word && (s.turns(turning, i) || words.Eases(says))) && begins(s.blockOf(at))
		for n := s.blockOf(at); inner && leaves && begins(n); n = s.blockOf(n) {
			leaves = !functionLine.MatchString(s.lineText(n))
		}
		if (!inner || leaves) && narrows(i, says) {
			line = at
		}
	})
	return line
}

// leaving are the words with which a test or a loop ends, wherever they are in it.
var leaving = set("return break continue next throw raise")

// functionLine matches lines that begin a function within another one.
var functionLine = regexp.MustCompile(`\b(?:func|function|fn|fun|lambda|def)\b|=>|->|\bdo\b`)

// maxBlock bounds the lines of a block that are passed on the way to its beginning.
const maxBlock = 400

// blockOf is the line with a word that begins the block in which a line is, by how far they are indented; 0 for none.
func (s *side) blockOf(line int) int {
	indent := func(n int) (of int, text string) {
		text, _, _ = strings.Cut(s.text[s.starts[n-1]:], "\n")
		return len(text) - len(strings.TrimLeft(text, " \t")), strings.TrimSpace(text)
	}
	own, _ := indent(line)
	for n := line - 1; n > max(0, line-maxBlock); n-- {
		is, text := indent(n)
		switch {
		case text == "" || is >= own:
		case len(wordsIn(text)) > 0:
			return n
		default: // what a bracket alone opens begins in the line before it
			own = is + 1
		}
	}
	return 0
}

// loops matches what runs the tests of Python that are asynchronous.
var loops = regexp.MustCompile(`(?i)asyncio|anyio|trio\b|aiohttp|tornado|twisted|django`)

// looped reports whether a file has that.
func (s *side) looped() bool {
	if s.loops == nil {
		s.loops = new(loops.MatchString(s.text))
	}
	return *s.loops
}

// marksAnew reports whether a word in the head of a test, or of a group of tests, is an annotation of a kind that no rule knows, a
// modifier with which runners pass over it, or an option that it did not have.
func (u *unit) marksAnew(i int, had bool) bool {
	s, name := u.side, u.side.of(i)
	switch {
	case had, usualMarks[name], suppressing[name], replacing.MatchString(name), s.of(i+1) == ".", s.of(i+1) == "::":
		return false
	case i > u.at:
		named := s.of(i+1) == ":" || s.of(i+1) == "="
		if s.lang.ruby { // it "…", :slow do
			named = s.of(i-1) == ":" && s.of(i-2) == ","
		}
		return named && options[strings.ToLower(name)] == ""
	}
	a := annotation{side: s, at: i, name: strings.ToLower(name)}
	ofCase := s.lang.rust && s.casesFrom(i, u.at)
	known := annotations[a.name] != "" || slices.ContainsFunc(headForms, func(f headForm) bool { return f.fits(a) })
	hides := hiding[name] && (name != "internal" || s.lang.name == "C#") // JUnit takes internal classes of Kotlin
	return hides || s.annotation(i) && (!known || ofCase)
}

// replaces reports whether the rest of a statement, up to a token, names something that the file named before: it gets a stand-in.
func (s *side) replaces(i, end int) bool {
	return s.other != nil && among(i+1, end, func(n int) bool {
		parts := wordsIn(contentOf(s.of(n)))
		return s.kindOf(n) != sign && len(parts) > 0 && !common[s.of(n)] && !replacing.MatchString(s.of(n)) &&
			!slices.ContainsFunc(parts, func(part string) bool { return s.other.says()[part] == 0 })
	})
}
