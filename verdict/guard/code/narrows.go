package code

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/words"
)

// addition is what is new in a part of a test file. The rest is filled as it is read.
type addition struct {
	altered
	tests  map[string]bool // the names of tests
	said   map[string]bool // the words of the part before
	names  map[string]bool // all names in it
	told   lineCounts      // of the lines that tell something
	lines  lineCounts      // of all lines
	stands int             // the token up to which it is known what gets a stand-in
	idle   map[block]bool
}

// block is the line that begins a block and the one that ends it; 0 for none.
type block struct{ begin, end int }

// lineCounts are how often each line was and is there.
type lineCounts struct{ had, has map[string]int }

// more reports whether a line is there more often than it was.
func (c lineCounts) more(line string) bool { return c.has[line] > c.had[line] }

// narrows is the line of what is new in a part of a test file and may pass over something: a condition, a part of one, another
// literal for an arm of Rust's match, an argument of a call that was there before, an annotation or an option of a test, a word
// that turns what a test does, a name that says that something is left out or takes longer or, outside of tests, the name of one.
// It is 0 for none. In a block that is new itself, such as a case of a table, only what ends the test or turns it does, if nothing
// that was there gets another value.
func (a altered) narrows(tests map[string]bool) (line int) {
	s := a.after.side
	d := addition{altered: a, tests: tests, said: a.before.wordSet(), idle: map[block]bool{}}
	tested := a.after.role == test || len(s.having(test)) > 0 // elsewhere a block may be run for each test
	a.after.telling(func(i int, says string) {
		if line > 0 || a.fresh[says] == 0 {
			return
		}
		if d.told.has == nil {
			d.told = lineCounts{a.before.tellingLines(), a.after.tellingLines()}
			d.lines = lineCounts{a.before.lineTexts(), a.after.lineTexts()}
		}
		at := s.line(i)
		if !d.told.more(s.lineText(at)) {
			return
		}
		turns := s.kindOf(i) == word && (s.turns(turning, i) || words.Eases(says))
		inner := tested && i >= a.after.body && !turns && d.isIdle(d.around(at))
		if (!inner || d.leaves(at, says)) && d.passesOver(i, says) {
			line = at
		}
	})
	return line
}

// tellingLines counts the lines of a unit that tell something.
func (u *unit) tellingLines() map[string]int {
	lines, last := map[string]int{}, 0
	u.telling(func(i int, _ string) {
		if n := u.side.line(i); n != last {
			lines[u.side.lineText(n)]++
			last = n
		}
	})
	return lines
}

// passesOver reports whether a word that is new may pass over something, wherever it is.
func (d *addition) passesOver(i int, says string) bool {
	a, s := d.altered, d.after.side
	in := s.unitAt(i)
	switch {
	case s.lang.python && says == "async" && a.after.role == test && !s.looped():
		return true // unittest does not wait for it, and nor does pytest by itself
	case in != nil && in != a.after && (in.role == test || in.role == group && (i < in.body || d.isIdle(d.around(s.line(i))))) &&
		!slices.ContainsFunc(a.before.side.units, func(u *unit) bool { return u.name == in.name }):
		return false // in a test or a group that is new
	case s.decides(i, says), d.argues(i, says, in), s.inCondition(i),
		s.lang.rust && s.kindOf(i) == text && (s.of(i-1) == "|" || s.of(i+1) == "|"): // an arm
		return true
	case in != nil && in.at == i:
		return false
	case in != nil && in.role != definition && i < in.body:
		return a.fresh["case"] == 0 && in.marksAnew(i, d.said[says]) || d.replaces(i)
	case a.after.role != test && slices.ContainsFunc(wordsIn(says), func(w string) bool { return d.tests[w] }):
		return true
	}
	return s.kindOf(i) == word && (s.turns(turning, i) || d.replaces(i) || words.Eases(says))
}

// decides reports whether a word begins a condition, a filter of a shell or a goroutine. Rust has #[case(1)], and regular
// expressions have a method match.
func (s *side) decides(i int, says string) bool {
	return deciding[says] && !s.annotation(i) && s.of(i-1) != "." || s.lang.shell && s.of(i-1) == "|" ||
		says == "go" && s.lang.name == "Go"
}

// argues reports whether a token is in an argument of a call that was there before, or in a part of a list.
func (d *addition) argues(i int, says string, in *unit) bool {
	s, open := d.after.side, int(d.after.side.outer[i])
	if open <= 0 || s.of(open-1) == "import" || !(s.of(open) == "(" && s.kindOf(open-1) == word && d.fresh[s.normal(open-1)] == 0 ||
		s.of(open) == "[" && s.closes(open-1) && !s.annotation(i)) {
		return false
	}
	switch {
	case in != nil && open-1 == in.at && among(in.from, in.at, func(n int) bool { return replacing.MatchString(s.of(n)) }):
		return false // Python's @patch gives the test a stand-in
	case s.marksTest(open-1) && (usualMarks[says] || s.kindOf(i) == text && (s.of(i-1) == "(" || usualMarks[s.of(i-2)])):
		return false // its name: [Fact(DisplayName = "…")], @Test("…")
	}
	return (s.lang.name != "Go" || s.of(open-1) != "func") && !s.closureFrom(open+1, i) // a parameter, or a statement of a closure
}

// replaces reports whether a word gives a stand-in. Further ones in the rest of its statement do no more.
func (d *addition) replaces(i int) (does bool) {
	if s := d.after.side; i >= d.stands && replacing.MatchString(s.of(i)) {
		d.stands = s.statementEnd(i)
		does = s.replaces(i, d.stands)
	}
	return does
}

// isIdle reports whether a block is new itself, and gives nothing that was there another value. Another "else" may be the one that
// was there.
func (d *addition) isIdle(b block) bool {
	if is, known := d.idle[b]; known || b.begin == 0 {
		return is
	}
	s := d.after.side
	begin := s.lineText(b.begin)
	is := d.lines.had[begin] == 0 && d.lines.has[begin] > 0
	for n := b.begin + 1; is && n < b.end; n++ {
		text := s.lineText(n)
		is = len(wordsIn(text)) == 0 || d.lines.more(text)
	}
	d.idle[b] = is && !d.sets(b)
	return d.idle[b]
}

// around is the block around a line. What a bracket alone opens begins in the line before it.
func (d *addition) around(line int) block {
	s := d.after.side
	first := s.firstOf(line)
	open, to := int(s.outer[first]), -1
	if s.closes(first) {
		open = int(s.outer[s.mate(first)])
	}
	if open >= 0 {
		to = s.mate(open)
	}
	for n := first - 1; len(s.closing) > 0 && n > max(open, first-maxBlock*10); n-- {
		if s.closing[n] > first && s.line(n) < line {
			open, to = n, s.closing[n]
		}
	}
	switch {
	case to > open && s.tokens[open].first && s.kindOf(open) == sign:
		return block{s.line(open - 1), s.line(to)}
	case to > open:
		return block{s.line(open), s.line(to)}
	case s.lang.python:
		return s.indentedBlock(line)
	}
	return block{}
}

// firstOf is the first token that begins in a line or behind it.
func (s *side) firstOf(line int) int {
	i, _ := slices.BinarySearchFunc(s.tokens, s.starts[line-1], func(t token, from int32) int { return int(t.from - from) })
	return min(i, len(s.tokens)-1)
}

// indentedBlock is the block in which a line of Python is, by how far they are indented.
func (s *side) indentedBlock(line int) (b block) {
	indent := func(n int) (of int, blank bool) {
		text, _, _ := strings.Cut(s.text[s.starts[n-1]:], "\n")
		return len(text) - len(strings.TrimLeft(text, " \t")), strings.TrimSpace(text) == ""
	}
	own, _ := indent(line)
	for n := line - 1; n > max(0, line-maxBlock) && b.begin == 0; n-- {
		if is, blank := indent(n); !blank && is < own {
			b.begin, own = n, is
		}
	}
	b.end = line + 1
	for n := line + 1; b.begin > 0 && n <= min(len(s.starts), b.begin+maxBlock); n++ {
		is, blank := indent(n)
		if !blank && is <= own {
			break
		}
		b.end = n + 1
	}
	return b
}

// sets reports whether a statement of a block gives another value to something that was there before.
func (d *addition) sets(b block) bool {
	s := d.after.side
	if d.names == nil {
		d.names = map[string]bool{}
		for i := d.before.from; i < d.before.to; i++ {
			d.names[d.before.side.of(i)] = d.before.side.kindOf(i) == word
		}
	}
	return among(s.firstOf(b.begin), s.firstOf(min(b.end+1, len(s.starts))), func(i int) bool {
		return d.names[s.of(i)] && (s.given(i) || s.of(i+1) == "." && emptying.MatchString(s.of(i+2)))
	})
}

// emptying matches names of methods that take something away.
var emptying = regexp.MustCompile(`(?i)^(?:clear|pop|remove|delete|splice|truncate|retain|drain|shift|discard)`)

// given reports whether a statement gives a value to what it names first, or to a part of it, and declares nothing.
func (s *side) given(i int) bool {
	open := int(s.outer[i])
	begins := s.tokens[i].first || s.of(i-1) == ")" || s.of(i-1) == "{" || s.of(i-1) == ";"
	return begins && s.kindOf(i+1) != word && (open < 0 || s.of(open) == "{") && among(i+1, s.statementEnd(i), func(n int) bool {
		gives := int(s.outer[n]) == open && strings.HasSuffix(s.of(n), "=") && !operators[s.of(n)] && s.of(n) != ":="
		return gives && (n-1 == i || s.kindOf(n-1) != word || s.of(n-2) == "." || s.of(n-2) == "->") // no List<T> x =
	})
}

// leaves reports whether a word in new blocks ends the test: none of them is a function that it ends instead.
func (d *addition) leaves(line int, says string) bool {
	s, leaves := d.after.side, leaving[says]
	for b := d.around(line); leaves && d.isIdle(b); b = d.around(b.begin) {
		leaves = !s.function(says).MatchString(s.lineText(b.begin))
	}
	return leaves
}

// leaving are the words with which a test or a loop ends, wherever they are in it.
var leaving = set("return break continue next throw raise")

// These match lines that begin a function within another one, one that is named or made, and one of Ruby.
var (
	functionLine = regexp.MustCompile(`\b(?:func|function|fn|fun|lambda|def)\b|=>|->`)
	namedLine    = regexp.MustCompile(`\b(?:fun|lambda|def|define_method)\b`)
	doLine       = regexp.MustCompile(functionLine.String() + `|\bdo\b`)
)

// function matches lines that begin what a word ends: what a block of Ruby, Kotlin or Scala returns from is the function around it.
func (s *side) function(says string) *regexp.Regexp {
	switch {
	case says == "return" && (s.lang.ruby || s.lang.name == "Kotlin" || s.lang.name == "Scala"):
		return namedLine
	case s.lang.layout == ends:
		return doLine
	}
	return functionLine
}

// maxBlock bounds the lines of a block that is looked at.
const maxBlock = 400

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
