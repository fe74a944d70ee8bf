package code

import (
	"slices"
	"strconv"
	"strings"
)

// claim is one assertion of a test.
type claim struct {
	from, to int
	op       string // what is called or compared with
	strength int    // how few results pass, 0 to 4
	norm     string // the tokens, however they are formatted
	words    map[string]bool
	number   float64 // the last number, a tolerance; only where loose
	args     int
	loose    bool // it takes any argument, or any number of calls
	vacuous  bool // it compares a thing with itself, or looks at nothing that was computed
}

// code is the assertion without its literals.
func (c claim) code(s *side) string {
	var b strings.Builder
	for i := c.from; i < c.to; i++ {
		if k := s.kindOf(i); k == word || k == sign {
			b.WriteString(s.of(i))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func (c claim) line(s *side) int { return int(s.tokens[c.from].line) }

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
		"shouldThrow Should XCTFail XCTUnwrap prop_assert")
	// receivers are objects whose methods assert.
	receivers = set("assert require Assert Assertions Expect is t c qt tassert should must expect chai td")
	// methods of t, c and is that assert.
	tMethods = set("is deepEqual equal notEqual true false throws throwsAsync same snapshot like truthy falsy Assert " +
		"Equal NoErr True False Check ok strictEqual notOk match rejects notThrows")
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
		if c, ok := s.claimAt(u, i); ok {
			c.norm = s.plain(c.from, c.to)
			c.words = map[string]bool{}
			for k := c.from; k < c.to; k++ {
				c.loose = c.loose || looseWords[s.of(k)]
				if s.tokens[k].kind != sign {
					c.words[s.normal(k)] = true
				}
			}
			c.vacuous = c.vacuous || constant(c) || slices.ContainsFunc(alwaysTrue, func(t string) bool { return strings.Contains(c.norm, t) })
			u.claims = append(u.claims, c)
			past = c.to
		}
	})
}

// receives reports whether a word is an object of which a method asserts: assert.Equal.
func (s *side) receives(i int) bool {
	t := s.of(i)
	return (receivers[t] || strings.HasSuffix(t, "Assert")) && s.of(i+1) == "." && s.kindOf(i+2) == word && s.of(i-1) != "." &&
		(len(t) > 2 || tMethods[s.of(i+2)])
}

// alwaysTrue are operands with which nothing else matters.
var alwaysTrue = []string{"&& false", "|| true", "or True"}

// claimAt reads an assertion that a word begins.
func (s *side) claimAt(u *unit, i int) (claim, bool) {
	t, next := s.of(i), s.of(i+1)
	switch {
	case s.lang.name == "Go" && t == "if":
		return s.goClaim(u, i)
	case t == "assert" && (s.lang.python || next != "(" && next != "." && (s.lang.layout == ends || s.lang.name == "Java")):
		return s.statement(i, i+1), true
	case s.lang.rust && next == "!" && assertion(t) && s.of(i+2) == "(":
		return s.called(i, i+2, t), true
	case s.receives(i) && s.of(i+3) == "(":
		return s.called(i, i+3, s.of(i+2)), true
	case s.receives(i) && s.of(i+3) == "<" && s.of(s.pastAngles(i+3)) == "(":
		return s.called(i, s.pastAngles(i+3), s.of(i+2)), true
	case !assertion(t) || s.of(i-1) == "def" || s.of(i-1) == "fn" || next == ":" || next == "=" || next == "=>":
		return claim{}, false
	case s.lang.rust: // .expect("…") takes a value out
		return claim{}, false
	case next == "(" && s.tokens[i+1].mate > 0:
		return s.called(i, i+1, t), true
	case next == "<" && s.lang.cstyle && s.of(s.pastAngles(i+1)) == "(":
		return s.called(i, s.pastAngles(i+1), t), true
	case s.lang.name == "Kotlin" && (next == "{" || next == "<"):
		return s.block(i)
	case (s.lang.name == "Kotlin" || s.lang.name == "Scala") && s.of(i-1) != "." && strings.HasPrefix(t, "should"),
		s.lang.ruby && s.tokens[i].first && s.kindOf(i+1) != sign:
		return s.statement(i, i+1), true
	case s.lang.ruby && (next == "{" || next == "do"):
		return s.statement(i, i+1), true
	}
	return claim{}, false
}

// block is an assertion of Kotlin that takes a block: assertFailsWith<E> { … }.
func (s *side) block(i int) (claim, bool) {
	for k := i + 1; k < min(len(s.tokens), i+20); k++ {
		if open := s.of(k); open == "(" || open == "{" {
			return s.called(i, k, s.of(i)), true
		}
	}
	return claim{}, false
}

// called is an assertion that is written as a call, with the calls that are chained to it.
func (s *side) called(i, open int, op string) claim {
	end := int(s.tokens[open].mate)
	if end < 0 {
		end = open
	}
	c := claim{from: i, op: op}
	operands := s.plain(open+1, end)
	c.vacuous = s.twice(open, end)
	c.args, c.number = s.arguments(open)
	for k := end + 1; ; {
		if s.of(k) == "." && s.kindOf(k+1) == word {
			if op = s.of(k + 1); op == "not" || op == "resolves" || op == "rejects" || op == "to" || op == "be" || op == "not_to" || op == "poll" {
				op = c.op
			}
			c.op = op
			end, k = k+1, k+2
			continue
		}
		if s.of(k) == "(" && s.tokens[k].mate > 0 {
			c.vacuous = c.vacuous || s.plain(k+1, int(s.tokens[k].mate)) == operands && operands != ""
			c.args, c.number = s.arguments(k)
			if name := s.of(k + 1); s.lang.ruby && s.kindOf(k+1) == word {
				c.op = name
			}
			end = int(s.tokens[k].mate)
			k = end + 1
			continue
		}
		if s.lang.ruby && s.kindOf(k) == word && s.of(end) != ")" && !s.tokens[k].first { // expect(x).to eq 1
			c.op = s.of(k)
			for end = k; end+1 < len(s.tokens) && !s.tokens[end+1].first && s.of(end+1) != "}"; end++ {
			}
		}
		break
	}
	c.to = end + 1
	c.strength = strengthOf(c.op, operands)
	if strengths[strings.ToLower(c.op)] == 0 && !truths[strings.ToLower(c.op)] && c.args > 1 {
		c.strength = 4
	}
	return c
}

// twice reports whether two arguments of a call are the same.
func (s *side) twice(open, end int) bool {
	seen := map[string]bool{}
	from := open + 1
	for k := from; k <= end; k++ {
		if k == end || s.of(k) == "," && int(s.outer[k]) == open {
			if arg := s.plain(from, k); k > from && seen[arg] && isWordStart(arg[0]) && arg != "t" {
				return true
			} else if k > from {
				seen[arg] = true
			}
			from = k + 1
		}
	}
	return false
}

// arguments counts the arguments of a call and reads the last one, if it is a number.
func (s *side) arguments(open int) (n int, last float64) {
	end := int(s.tokens[open].mate)
	if end <= open+1 {
		return 0, 0
	}
	n = 1
	for k := open + 1; k < end; k++ {
		if s.of(k) == "," && int(s.outer[k]) == open && k+1 < end {
			n++
		}
		if s.tokens[k].kind == number {
			if v, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(s.of(k), "_", ""), "fFdDL"), 64); err == nil {
				last = v
			}
		}
	}
	return n, last
}

// statement is an assertion that goes on to the end of its line.
func (s *side) statement(i, from int) claim {
	to := from
	for to < len(s.tokens) && s.of(to) != ";" {
		if s.outer[to] == s.outer[i] && (s.tokens[to].first || s.of(to) == "," && s.lang.python) {
			break
		}
		if s.tokens[to].mate > int32(to) {
			to = int(s.tokens[to].mate)
		}
		to++
	}
	to = min(to, len(s.tokens))
	op := operator(s, from, to)
	if op == "" {
		op = s.of(i)
	}
	c := claim{from: i, to: to, op: op, args: 1}
	c.strength = strengthOf(op, s.plain(from, to))
	for k := from; k < to; k++ {
		if s.of(k) == op && s.plain(from, k) == s.plain(k+1, to) {
			c.vacuous = true
		}
	}
	if strings.Contains(s.plain(from, to), "approx (") {
		c.op, c.strength = "approx", 2
		for k := from; k < to; k++ {
			if s.of(k) == "(" {
				if _, v := s.arguments(k); v > 0 {
					c.number = v
				}
			}
		}
	}
	return c
}

// goClaim is an "if" of Go whose block fails the test.
func (s *side) goClaim(u *unit, i int) (claim, bool) {
	open := i + 1
	for open < u.to && s.of(open) != "{" || open < u.to && s.outer[open] != s.outer[i] {
		open++
	}
	if open >= u.to || s.tokens[open].mate < 0 {
		return claim{}, false
	}
	end := int(s.tokens[open].mate)
	for k := open; k < end; k++ {
		if s.tokens[k].mate > int32(k) && k > open {
			k = int(s.tokens[k].mate)
			continue
		}
		if s.of(k) == "." && failures[s.of(k+1)] && s.of(k+2) == "(" && int(s.outer[k]) == open {
			from := i + 1
			for n := from; n < open; n++ {
				if s.of(n) == ";" {
					from = n + 1
				}
			}
			op := operator(s, from, open)
			c := claim{from: i, to: open, op: op, args: 1, strength: strengthOf(failedBy[op], s.plain(from, open))}
			if op == "" {
				c.strength, c.op = 3, "if"
			}
			return c, true
		}
	}
	return claim{}, false
}

var failures = set("Error Errorf Fatal Fatalf Fail FailNow Failf")

// failedBy is what a condition that fails the test asserts.
var failedBy = map[string]string{"!=": "==", "==": "!=", "<": ">=", ">": "<=", "<=": ">", ">=": "<", "": "=="}

// operator is the comparison of an expression; "" when it has none of its own.
func operator(s *side, from, to int) string {
	for k := from; k < to; k++ {
		switch t := s.of(k); t {
		case "==", "!=", "===", "!==", "<=", ">=", "<", ">", "in", "is":
			if s.outer[k] == s.outer[from] || s.of(int(s.outer[k])) == "(" && int(s.outer[k]) == from {
				return t
			}
		}
	}
	return ""
}
