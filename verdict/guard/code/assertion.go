package code

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
)

// assertion is one assertion of a test: from the asserting word to the end of the statement. In Go it is the
// condition under which a test fails.
type assertion struct {
	from, to int32  // its tokens
	op       string // the last function that it calls, or the operator that it compares with
	digest   uint64 // of its tokens, independent of formatting
}

// reading is the meaning of an assertion. It is computed only for assertions that are compared, because it
// takes many times the memory of a assertion.
type reading struct {
	assertion
	line     int
	strength int             // how few results pass, from 1 to 5, or unknown
	norm     string          // its tokens, independent of formatting
	words    map[string]bool // its words and literals
	code     string          // its tokens without literals
	number   float64         // its last number; a tolerance if the strength is about
	patterns int             // the number of its literals that are regular expressions
	wild     int             // how often these patterns accept anything (".*")
}

// unknown is the strength of the tests' own functions: about the same as of a bound.
const unknown = 0

// isAssertion reports whether a function of this name asserts.
func isAssertion(name string) bool {
	if exactAssertions[name] {
		return true
	}
	for _, prefix := range assertionPrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && !strings.HasPrefix(rest, "ion") {
			return true
		}
	}
	rest, ok := strings.CutPrefix(name, "expect")
	return ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z'
}

// maxAssertions bounds the assertions of one test.
const maxAssertions = 1000

// assertionsOf reads the assertions of a unit.
func (s *side) assertionsOf(u *unit) {
	past := 0
	u.own(func(i int) {
		if i < past || s.kindOf(i) != word || len(u.assertions) >= maxAssertions {
			return
		}
		from, to, op := 0, 0, ""
		switch {
		case s.lang.name == "Go" && s.of(i) == "if":
			if from, to = s.failing(u, i); to > from {
				op = s.failedBy(from, to)
			}
		case s.asserts(i):
			from, to = max(past, s.receiverOf(i)), s.statementEnd(i)
			op = s.operation(from, to)
		}
		if to > from {
			past = to
			c := assertion{from: int32(from), to: int32(to), op: op}
			if said := s.read(c); !said.constant() && !s.tuple(from, to) {
				h := fnv.New64a()
				h.Write([]byte(said.norm))
				c.digest = h.Sum64()
				u.assertions = append(u.assertions, c)
			}
		}
	})
}

// calls reports whether a word calls a function: with brackets, type arguments or a block or, in Ruby, at the
// beginning of a line.
func (s *side) calls(i int) bool {
	switch next := s.of(i + 1); {
	case next == "(":
		return true
	case next == "{":
		return s.lang.newlines && !control[s.of(i)]
	case next == "<":
		n := s.pastAngles(i + 1)
		return n > i+1 && (s.of(n) == "(" || s.of(n) == "{")
	default:
		return s.lang.ruby && (s.tokens[i].first || s.of(i-1) == "{") && !control[s.of(i)]
	}
}

// receives reports whether a word is an object with a method that asserts: assert.Equal.
func (s *side) receives(i int) bool {
	t := s.of(i)
	return (receivers[t] || strings.HasSuffix(t, "Assert")) && s.of(i+1) == "." && s.kindOf(i+2) == word && s.of(i-1) != "." &&
		(len(t) > 2 || tMethods[s.of(i+2)]) && !ending[s.of(i+2)] && s.calls(i+2)
}

// asserts reports whether a word begins an assertion.
func (s *side) asserts(i int) bool {
	t, before, next := s.of(i), s.of(i-1), s.of(i+1)
	switch {
	case t == "assert" && (s.lang.python || next != "(" && next != "." && (s.lang.layout == ends || s.lang.name == "Java")):
		return true
	case s.lang.rust: // .expect("…") unwraps a value
		return next == "!" && isAssertion(t)
	case s.receives(i):
		return true
	case !isAssertion(t) || before == "def" || before == "fn" || next == ":" || next == "=" || next == "=>":
		return false
	case s.lang.ruby && next == "do", (s.lang.name == "Kotlin" || s.lang.name == "Scala") && before != "." && strings.HasPrefix(t, "should"):
		return true
	}
	return s.calls(i) || s.lang.ruby && next == "{"
}

// receiverOf is the first token of the receiver of a method call.
func (s *side) receiverOf(i int) int {
	for s.of(i-1) == "." {
		switch mate := s.mate(i - 2); {
		case s.kindOf(i-2) == word:
			i -= 2
		case mate >= 0 && mate < i-2 && s.kindOf(mate-1) == word:
			i = mate - 1
		case mate >= 0 && mate < i-2:
			return mate
		default:
			return i
		}
	}
	return i
}

// statementEnd is the index after the last token of the statement that begins at a token. The statement ends
// at a semicolon, at the closing bracket around it, or with a line that no method call continues.
func (s *side) statementEnd(i int) int {
	ofLines := s.lang.newlines || s.lang.layout != braces
	for k := i + 1; k < len(s.tokens); k++ {
		if t := s.of(k); s.outer[k] != s.outer[i] || t == ";" || t == "," && s.lang.python ||
			s.tokens[k].first && ofLines && t != "." && t != "?" {
			return k
		}
		if s.mate(k) > k {
			k = s.mate(k)
		}
	}
	return len(s.tokens)
}

// read computes the meaning of an assertion.
func (s *side) read(of assertion) reading {
	from, to := int(of.from), int(of.to)
	c := reading{assertion: of, line: s.line(int(of.from)), strength: strengths[of.op], norm: s.canonical(from, to), words: map[string]bool{}}
	locals, code := map[string]string{}, strings.Builder{}
	for k := from; k < to; k++ {
		if looseWords[s.of(k)] {
			c.strength = 1
		}
		if s.kindOf(k) == text && isRegexp(s.of(k)) {
			c.patterns++
			c.wild += strings.Count(s.of(k), ".*")
		}
		if s.kindOf(k) != sign {
			c.words[s.named(k, locals)] = true
		}
		if s.kindOf(k) == word || s.kindOf(k) == sign {
			code.WriteString(s.named(k, locals) + " ")
		}
		if s.kindOf(k) == number {
			if v, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(s.of(k), "_", ""), "fFdDL"), 64); err == nil {
				c.number = v
			}
		}
	}
	c.code = code.String()
	if digits[of.op] {
		c.number = -c.number
	}
	switch {
	case strings.Contains(c.norm, "approx ("):
		c.strength = about
	case of.op == "assertthat" && strings.Contains(c.norm, " , "): // with a matcher of the tests' own
		c.strength = unknown
	}
	return c
}

// looser reports whether more results pass an assertion than passed the one that it replaces.
func (c reading) looser(than reading) bool {
	return c.strength != unknown && c.strength < cmp.Or(than.strength, bounded) || c.patterns > than.patterns ||
		c.patterns == than.patterns && c.wild > than.wild || c.allows(than) ||
		c.code == than.code && (len(c.words) < len(than.words) || c.strength == about && c.number > than.number || c.shortens(than))
}

// allows reports whether an assertion says all that the other one says, and names a further result that it accepts or
// gives its function an option that is off.
func (c reading) allows(than reading) bool {
	off := strings.HasSuffix(c.code, "= False ) ") && !strings.HasSuffix(than.code, "= False ) ") && c.op != "assert" && isAssertion(c.op)
	return (off || accepting[c.op] && c.op == than.op) && len(c.words) > len(than.words) && share(than.words, c.words) == 1
}

// shortens reports whether an assertion looks for only a part of the text that the other one looks for.
func (c reading) shortens(than reading) bool {
	if c.strength > bounded {
		return false
	}
	for w := range c.words {
		for was := range than.words {
			if text := contentOf(w); w[0] == '"' && was[0] == '"' && len(text) > 3 && len(w) < len(was) && strings.Contains(was, text) &&
				!than.words[w] && !c.words[was] {
				return true
			}
		}
	}
	return false
}

// equality matches calls that compare two values, within a condition.
var equality = regexp.MustCompile(`(?:equals|Equal|matches !) \(`)

// operation is the last function that an assertion calls, or the operator that it compares with.
func (s *side) operation(from, to int) string {
	op, keyword := strings.ToLower(s.of(from)), s.of(from) == "assert" && s.of(from+1) != "." && s.of(from+1) != "("
	for k := from; k < to; k++ {
		t := strings.ToLower(s.of(k))
		chained := s.of(k+1) == "(" || s.of(k+1) == "<" && s.of(k-1) == "." || s.lang.ruby && strengths[t] > 0
		if !keyword && s.outer[k] == s.outer[from] && s.kindOf(k) == word && chained && !neutral[t] {
			op = t
		}
	}
	if op == "assertthat" {
		return cmp.Or(s.matcher(from, to), op)
	}
	if !truths[op] {
		return op
	}
	if k := s.comparison(from, to); k > 0 {
		return s.of(k)
	}
	if equality.MatchString(s.plain(from, to)) {
		return "=="
	}
	inner := from + 1
	for !keyword && inner < to && s.of(inner-1) != "(" {
		inner++
	}
	if s.calling(inner, to) {
		return "()"
	}
	return op
}

// matcher is the matcher that a value is given to, as in assertThat(x, is(greaterThan(3))); "" for none.
func (s *side) matcher(from, to int) string {
	for k := from; k < to; k++ {
		if s.of(k) == "," && s.outer[k] >= int32(from) && s.outer[s.outer[k]] == s.outer[from] && s.of(k+2) == "(" {
			if s.of(k+1) == "is" && s.kindOf(k+3) == word && s.of(k+4) == "(" {
				k += 2
			}
			return strings.ToLower(s.of(k + 1))
		}
	}
	return ""
}

// calling reports whether an expression calls a function. Such a condition says more than that a value
// exists.
func (s *side) calling(from, to int) bool {
	return among(from, to, func(k int) bool { return s.of(k) == "(" && s.kindOf(k-1) == word })
}

// comparison is the token of the comparison operator in an expression, or in the first brackets within it; 0
// if there is none.
func (s *side) comparison(from, to int) int {
	for k := from; k < to; k++ {
		switch s.of(k) {
		case "==", "!=", "===", "!==", "<=", ">=", "<", ">", "in", "is":
			if around := s.outer[k]; around == s.outer[from] || around >= int32(from) && s.outer[around] == s.outer[from] {
				return k
			}
		}
	}
	return 0
}

// settled matches what makes a condition constant.
var settled = regexp.MustCompile(`&& false|\|\| true|or True`)

// constant reports whether an assertion depends on no computed value.
func (c reading) constant() bool {
	if settled.MatchString(c.norm) {
		return true
	}
	if strengths[c.op] == unknown {
		return false
	}
	for w := range c.words {
		if isWordStart(w[0]) && !constants[w] && !strings.EqualFold(w, c.op) && !neutral[w] && !isAssertion(w) && !receivers[w] {
			return false
		}
	}
	return true
}

// tuple reports whether Python's assert has a tuple, a list or a function, or a text. They are true whatever is in them:
// assert (pay() == 3,).
func (s *side) tuple(from, to int) bool {
	open := from + 1
	if !s.lang.python || s.of(from) != "assert" {
		return false
	}
	switch s.of(open) {
	case "(":
		return s.mate(open) == to-1 && among(open, to, func(k int) bool { return s.of(k) == "," && int(s.outer[k]) == open })
	case "[", "{":
		return s.mate(open) == to-1 && to-open > 2
	}
	return s.of(open) == "lambda" || s.kindOf(open) == text && open == to-1
}

// failing is the condition of a Go "if" whose block fails the test.
func (s *side) failing(u *unit, i int) (from, to int) {
	open := i + 1
	for open < u.to && (s.of(open) != "{" || s.outer[open] != s.outer[i]) {
		open++
	}
	if open >= u.to || s.mate(open) < 0 {
		return 0, 0
	}
	for k := open + 1; k < s.mate(open); k++ {
		if s.mate(k) > k {
			k = s.mate(k)
		} else if s.of(k) == "." && failures[s.of(k+1)] && s.of(k+2) == "(" {
			from = i + 1
			for n := from; n < open; n++ {
				if s.of(n) == ";" {
					from = n + 1
				}
			}
			return from, open
		}
	}
	return 0, 0
}

// failedBy is what a Go condition that fails a test asserts: the opposite of its operator.
func (s *side) failedBy(from, to int) string {
	k := s.comparison(from, to)
	switch {
	case k == 0 && s.calling(from, to):
		return "()"
	case k == 0:
		return "true"
	}
	return map[string]string{"!=": "==", "==": "!=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}[s.of(k)]
}

// bounded is the strength of an assertion with one bound, about that of one with two bounds.
const (
	bounded = 3
	about   = 4
)
