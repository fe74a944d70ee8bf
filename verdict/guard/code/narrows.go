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
	names  map[string]int  // how often each name is in the part now
	had    map[string]int  // how often each statement was there, by what it tells
	has    map[string]int  // and is there
	tells  []teller        // what tells something now
	texts  map[int]string  // what each statement tells, by its first token
	stands int             // the token up to which it is known what gets a stand-in
	idle   map[block]bool
}

// teller is a token that tells something, and the statement that it is in.
type teller struct {
	at   int
	says string
	in   int // the first token of the statement
}

// block is the line that begins a block and the one that ends it; 0 for none.
type block struct{ begin, end int }

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
		if d.has == nil {
			d.had, _ = statementsOf(a.before.tellers())
			d.tells = a.after.tellers()
			d.has, d.texts = statementsOf(d.tells)
		}
		if statement := d.texts[s.statementFrom(i)]; d.has[statement] <= d.had[statement] {
			return
		}
		at := s.line(i)
		turns := s.kindOf(i) == word && (s.turns(turning, i) || words.Eases(says))
		inner := tested && i >= a.after.body && !turns && d.isIdle(d.around(at))
		if (!inner || d.leaves(at, says)) && d.passesOver(i, says) {
			line = at
		}
	})
	return line
}

// tellers are what tells something in a unit.
func (u *unit) tellers() (all []teller) {
	u.telling(func(i int, says string) { all = append(all, teller{i, says, u.side.statementFrom(i)}) })
	slices.SortFunc(all, func(a, b teller) int { return a.at - b.at })
	return all
}

// statementsOf returns what statements tell, however they are broken into lines and local variables are called: how often each is
// there, and that of each first token.
func statementsOf(all []teller) (count map[string]int, texts map[int]string) {
	says := map[int][]string{}
	for _, t := range all {
		says[t.in] = append(says[t.in], t.says)
	}
	count, texts = map[string]int{}, map[int]string{}
	for from, words := range says {
		texts[from] = strings.Join(words, " ")
		count[texts[from]]++
	}
	return count, texts
}

// statementFrom is the first token of the statement that a token is in: the first one of a line that is in no brackets, braces apart.
func (s *side) statementFrom(i int) int {
	for {
		for open := int(s.outer[i]); open >= 0 && (s.of(open) == "(" || s.of(open) == "["); open = int(s.outer[i]) {
			i = open
		}
		i = min(i, s.firstOf(s.line(i)))
		if open := int(s.outer[i]); i == 0 || open < 0 || s.of(open) != "(" && s.of(open) != "[" {
			return i
		}
	}
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

// isIdle reports whether a block is new itself, since the part says all that is in it so much more often, and gives nothing that is
// there besides another value.
func (d *addition) isIdle(b block) bool {
	if is, known := d.idle[b]; known || b.begin == 0 {
		return is
	}
	s, says := d.after.side, map[string]int{}
	from, to := s.firstOf(b.begin), s.firstOf(min(b.end, len(s.starts)))
	if b.end > len(s.starts) {
		to = len(s.tokens)
	}
	first, _ := slices.BinarySearchFunc(d.tells, from, func(t teller, at int) int { return t.at - at })
	is := true
	for _, t := range d.tells[first:] {
		if !is || t.at >= to {
			break
		}
		says[t.says]++
		is = says[t.says] <= d.fresh[t.says]
	}
	d.idle[b] = is && !d.sets(from, to)
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

// sets reports whether a statement of a block gives another value to something that is there besides.
func (d *addition) sets(from, to int) bool {
	s, here := d.after.side, map[string]int{}
	if d.names == nil {
		d.names = map[string]int{}
		for i := d.after.from; i < d.after.to; i++ {
			d.names[s.of(i)]++
		}
	}
	for i := from; i < to; i++ {
		here[s.of(i)]++
	}
	return among(from, to, func(i int) bool {
		return s.kindOf(i) == word && d.names[s.of(i)] > here[s.of(i)] && (s.given(i) || s.of(i+1) == "." && emptying.MatchString(s.of(i+2)))
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
