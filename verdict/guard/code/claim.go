package code

import (
	"strconv"
	"strings"
)

// claim is one assertion of a test: from a word that asserts to the end of its statement.
// In Go it is the condition under which a test fails.
type claim struct {
	from, to int
	op       string          // what is called, or compared with, in lower case
	strength int             // how few results pass, 1 to 4; 0 where all do, and unknown
	norm     string          // its tokens, however they are formatted
	code     string          // those that are no literals
	words    map[string]bool // its words and literals
	number   float64         // its last number, which is a tolerance where the strength is 2
	loose    bool            // it takes any argument, any error or any number of calls
}

const unknown = -1

func (c claim) line(s *side) int { return int(s.tokens[c.from].line) }

// vacuous reports whether an assertion is always true.
func (c claim) vacuous() bool { return c.strength == 0 }

// assertion reports whether a function of this name asserts.
func assertion(name string) bool {
	if exactAssertions[name] {
		return true
	}
	for _, prefix := range assertionPrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && name != "AssertionError" && (rest == "" || !strings.HasPrefix(rest, "ion")) {
			return true
		}
	}
	return false
}

var assertionPrefixes = []string{"assert", "Assert", "ASSERT_", "EXPECT_", "XCTAssert", "refute", "must_", "wont_", "should", "Should",
	"expect_", "expectThat", "verifyThat", "debug_assert"}

var (
	exactAssertions = set("expect verify CHECK REQUIRE CHECK_EQ REQUIRE_THROWS CHECK_THROWS raises fail shouldBe " +
		"shouldThrow XCTFail XCTUnwrap prop_assert")
	// receivers are objects whose methods assert.
	receivers = set("assert require Assert Assertions Expect is t c qt tassert should must expect chai td")
	// methods of t, c and is that assert.
	tMethods = set("is deepEqual equal notEqual true false throws throwsAsync same snapshot like truthy falsy Assert " +
		"Equal NoErr True False Check ok strictEqual notOk match rejects notThrows")
	// neutral are words of a chain that say nothing themselves.
	neutral = set("not resolves rejects to be not_to poll and")
)

// maxClaims bounds the assertions of one test.
const maxClaims = 1000

// claimsOf reads the assertions of a unit.
func (s *side) claimsOf(u *unit) {
	past := 0
	u.own(func(i int) {
		if i < past || s.kindOf(i) != word || len(u.claims) >= maxClaims {
			return
		}
		var c claim
		switch {
		case s.lang.name == "Go" && s.of(i) == "if":
			if from, to := s.failing(u, i); to > from {
				c = s.claim(from, to, s.failedBy(from, to))
			}
		case s.asserts(i):
			from, to := max(past, s.receiverOf(i)), s.statementEnd(i)
			c = s.claim(from, to, s.operation(from, to))
		}
		if c.to > 0 {
			u.claims = append(u.claims, c)
			past = c.to
		}
	})
}

// receives reports whether a word is an object of which a method asserts: assert.Equal.
func (s *side) receives(i int) bool {
	t := s.of(i)
	return (receivers[t] || strings.HasSuffix(t, "Assert")) && s.of(i+1) == "." && s.kindOf(i+2) == word && s.of(i-1) != "." &&
		(len(t) > 2 || tMethods[s.of(i+2)]) && s.calls(i+2)
}

// asserts reports whether a word begins an assertion.
func (s *side) asserts(i int) bool {
	t, before, next := s.of(i), s.of(i-1), s.of(i+1)
	switch {
	case t == "assert" && (s.lang.python || next != "(" && next != "." && (s.lang.layout == ends || s.lang.name == "Java")):
		return true
	case s.lang.rust: // .expect("…") takes a value out
		return next == "!" && assertion(t)
	case s.receives(i):
		return true
	case !assertion(t) || before == "def" || before == "fn" || next == ":" || next == "=" || next == "=>":
		return false
	case s.lang.ruby && next == "do", (s.lang.name == "Kotlin" || s.lang.name == "Scala") && before != "." && strings.HasPrefix(t, "should"):
		return true
	}
	return s.calls(i) || s.lang.ruby && next == "{"
}

// receiverOf is the first token of what a method is called of.
func (s *side) receiverOf(i int) int {
	for s.of(i-1) == "." {
		switch mate := int(s.tokens[i-2].mate); {
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

// statementEnd is one past the last token of the statement that a token begins: it ends at
// a semicolon, with the brackets around it, or with a line that no call goes on from.
func (s *side) statementEnd(i int) int {
	ofLines := s.lang.newlines || s.lang.layout != braces
	for k := i + 1; k < len(s.tokens); k++ {
		t := s.of(k)
		switch {
		case s.outer[k] != s.outer[i], t == ";", t == "," && s.lang.python,
			s.tokens[k].first && ofLines && t != "." && t != "?":
			return k
		}
		if s.tokens[k].mate > int32(k) {
			k = int(s.tokens[k].mate)
		}
	}
	return len(s.tokens)
}

// claim describes the assertion of some tokens.
func (s *side) claim(from, to int, op string) claim {
	c := claim{from: from, to: to, op: op, norm: s.plain(from, to), words: map[string]bool{}}
	var code strings.Builder
	for k := from; k < to; k++ {
		t, kind := s.of(k), s.kindOf(k)
		c.loose = c.loose || looseWords[t]
		if kind != sign {
			c.words[s.normal(k)] = true
		}
		if kind == word || kind == sign {
			code.WriteString(t + " ")
		}
		if v, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(t, "_", ""), "fFdDL"), 64); kind == number && err == nil {
			c.number = v
		}
	}
	c.code, c.strength = code.String(), unknown
	if n, known := strengths[c.op]; known {
		c.strength = n
	}
	switch {
	case strings.Contains(c.norm, "approx ("):
		c.strength = 2
	case c.op == "assertthat" && strings.Contains(c.norm, " , "): // with a matcher
		c.strength = unknown
	}
	if s.constant(c) || s.reflexive(from, to) {
		c.strength = 0
	}
	return c
}

// operation is what an assertion calls last, or what it compares with.
func (s *side) operation(from, to int) string {
	op, keyword := strings.ToLower(s.of(from)), s.of(from) == "assert" && s.of(from+1) != "." && s.of(from+1) != "("
	for k := from; k < to; k++ {
		t := strings.ToLower(s.of(k))
		chained := s.of(k+1) == "(" || s.of(k+1) == "<" && s.of(k-1) == "." || s.lang.ruby && strengths[t] > 0
		if !keyword && s.outer[k] == s.outer[from] && s.kindOf(k) == word && chained && !neutral[t] {
			op = t
		}
	}
	if !truths[op] {
		return op
	}
	if k := s.comparison(from, to); k > 0 {
		return s.of(k)
	}
	for _, exact := range []string{"equals (", "Equal (", "matches ! ("} {
		if strings.Contains(s.plain(from, to), exact) {
			return "=="
		}
	}
	return op
}

// comparison is the operator that an expression, or the first bracket in it, compares with;
// 0 when there is none.
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

// constant reports whether an assertion looks at nothing that was computed.
func (s *side) constant(c claim) bool {
	for _, always := range []string{"&& false", "|| true", "or True"} {
		if strings.Contains(c.norm, always) {
			return true
		}
	}
	if strengths[c.op] == 0 {
		return false // a function of the tests' own
	}
	for w := range c.words {
		if isWordStart(w[0]) && !constants[w] && !strings.EqualFold(w, c.op) && !neutral[w] && !assertion(w) && !receivers[w] {
			return false
		}
	}
	return true
}

// constants are words that stand for themselves, and the test as an argument.
var constants = set("true false nil null None True False TRUE FALSE undefined t self eq")

// reflexive reports whether an assertion compares a thing with itself.
func (s *side) reflexive(from, to int) bool {
	var operands []string
	add := func(a, b int) {
		if text := s.plain(a, b); a < b && isWordStart(text[0]) && text != "t" {
			operands = append(operands, text)
		}
	}
	if k := s.comparison(from, to); k > 0 && s.outer[k] == s.outer[from] {
		start := from
		if s.of(from) == "assert" {
			start++
		}
		add(start, k)
		add(k+1, to)
	}
	for k := from; k < to; k++ {
		if s.outer[k] != s.outer[from] || s.of(k) != "(" {
			continue
		}
		end := int(s.tokens[k].mate)
		for n := k + 1; n <= end; n++ {
			if n == end || s.of(n) == "," && int(s.outer[n]) == k {
				add(k+1, n)
				k = n
			}
		}
	}
	for i := 1; i < len(operands); i++ {
		if operands[i] == operands[i-1] {
			return true
		}
	}
	return false
}

// failing is the condition of an "if" of Go whose block fails the test.
func (s *side) failing(u *unit, i int) (from, to int) {
	open := i + 1
	for open < u.to && (s.of(open) != "{" || s.outer[open] != s.outer[i]) {
		open++
	}
	if open >= u.to || s.tokens[open].mate < 0 {
		return 0, 0
	}
	for k := open + 1; k < int(s.tokens[open].mate); k++ {
		if s.tokens[k].mate > int32(k) {
			k = int(s.tokens[k].mate)
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

// failedBy is what a condition asserts that fails a test; "if" where it compares nothing.
func (s *side) failedBy(from, to int) string {
	k := s.comparison(from, to)
	if k == 0 {
		return "if"
	}
	return map[string]string{"!=": "==", "==": "!=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}[s.of(k)]
}

var failures = set("Error Errorf Fatal Fatalf Fail FailNow Failf")
