package code

import (
	"slices"
	"strings"
)

// skipCalls are calls within a test that end it as skipped or let it fail: by the name
// before the dot ("*" for any) and the name.
var skipCalls = map[string]map[string]string{
	"Go":         {"Skip": "*", "Skipf": "*", "SkipNow": "*", "Goexit": "runtime"},
	"JavaScript": {"skip": "test it t ctx context this describe testInfo suite", "fixme": "test testInfo", "fail": "test", "todo": "t"},
	"Python":     {"skip": "pytest", "xfail": "pytest", "importorskip": "pytest", "skipTest": "self", "SkipTest": "*"},
	"Ruby":       {"skip": "", "pending": ""},
	"C#":         {"Ignore": "Assert", "Inconclusive": "Assert", "If": "Skip", "IfNot": "Skip", "Skip": "Assert"},
	"Java":       {"assumeTrue": "*", "assumeFalse": "*", "assumeThat": "*", "assumingThat": "*", "assumeNoException": "*", "assumeNotNull": "*", "abort": "*"},
	"Kotlin":     {"assumeTrue": "*", "assumeFalse": "*", "assumeThat": "*"},
	"Swift":      {"XCTSkip": "*", "XCTSkipIf": "*", "XCTSkipUnless": "*", "XCTExpectFailure": "*", "withKnownIssue": "*"},
	"PHP":        {"markTestSkipped": "*", "markTestIncomplete": "*"},
	"C":          {"GTEST_SKIP": "*", "SKIP": ""},
	"Scala":      {"cancel": "", "pending": "", "assume": ""},
	"Dart":       {"markTestSkipped": "*"},
}

// failing are those that expect a failure, and asking those whose argument is a condition.
var (
	failing = set("xfail fail XCTExpectFailure withKnownIssue")
	asking  = set("assumeTrue assumeFalse assumeThat assumingThat XCTSkipIf XCTSkipUnless If IfNot assume importorskip")
)

// bodyMarks reads what the test itself does not to run.
func (s *side) bodyMarks(u *unit, add func(effect, string, int)) {
	names := skipCalls[s.lang.name]
	checked := false
	u.own(func(i int) {
		if s.kindOf(i) != word {
			return
		}
		t := s.of(i)
		receivers, known := names[t]
		switch {
		case known && s.receiver(i, receivers) && (s.of(i+1) == "(" || s.lang.ruby && s.tokens[i].first || s.lang.python):
			e, cond := skips, s.condOf(u, i)
			if failing[t] {
				e = fails
			}
			if args := i + 2; asking[t] && s.of(i+1) == "(" && s.tokens[i+1].mate > 0 {
				cond = t + " " + s.plain(args, int(s.tokens[i+1].mate))
			} else if s.lang.name == "JavaScript" && s.kindOf(args) != text && s.of(args) != ")" {
				cond = s.plain(args, int(s.tokens[i+1].mate))
			}
			add(e, cond, i)
		case s.skipHelper(i) || s.skippers[t] && s.of(i+1) == "(" && i >= u.body:
			add(skips, t, i)
		case (t == "return" || t == "next" && s.lang.ruby) && i == u.body && s.of(i+1) != "(" && u.to-u.body > 3 && s.endsHere(i):
			add(leaves, "", i)
		case t == "return" && !checked && s.lang.name == "Go" && s.endsHere(i) && s.outer[i] >= int32(u.body):
			if cond := s.condOf(u, i); strings.HasPrefix(cond, "if ") && s.outer[s.outer[i]] == int32(u.body-1) {
				add(leaves, cond, i)
			}
		}
		checked = checked || assertion(t) || t == "Fatal" || t == "Fatalf" || t == "Errorf" || t == "Error"
	})
}

// endsHere reports whether nothing is returned.
func (s *side) endsHere(i int) bool {
	return i+1 >= len(s.tokens) || s.tokens[i+1].first || s.of(i+1) == ";" || s.of(i+1) == "}"
}

// skipHelper reports whether a statement calls a function named as one that skips.
func (s *side) skipHelper(i int) bool {
	t := s.of(i)
	if len(t) < 6 || s.of(i+1) != "(" && !s.lang.ruby || s.of(i-1) == "." && s.kindOf(i-3) != sign && s.of(i-3) != "}" {
		return false
	}
	rest, ok := strings.CutPrefix(strings.ToLower(t[:1])+t[1:], "skip")
	statement := s.tokens[i].first || s.of(i-1) == "." && s.tokens[i-2].first
	return ok && statement && slices.ContainsFunc(skipReasons, func(reason string) bool { return strings.HasPrefix(rest, reason) })
}

// skipReasons is how the name of such a function goes on.
var skipReasons = []string{"If", "Unless", "_if", "_unless", "Without", "On", "_on", "Test", "Long", "Flaky"}

// receiver reports whether a call is one of something that is listed.
func (s *side) receiver(i int, listed string) bool {
	dotted := s.of(i-1) == "."
	if listed == "*" {
		return true
	}
	if listed == "" {
		return !dotted && s.of(i-1) != "def" && s.of(i+1) != ":" && s.of(i+1) != "="
	}
	for name := range strings.FieldsSeq(listed) {
		if dotted && s.of(i-2) == name {
			return true
		}
	}
	return false
}

// condOf is the innermost condition around a token of a body; "" when there is none.
func (s *side) condOf(u *unit, i int) string {
	switch s.lang.layout {
	case indent:
		column := s.tokens[i].column
		for n := i; n >= max(u.body, i-4*maxHead); n-- {
			if t := s.tokens[n]; t.first && s.outer[n] < 0 && t.column < column {
				if t := s.of(n); t == "if" || t == "elif" || t == "else" || t == "except" {
					return s.lineOf(n)
				}
				column = t.column
			}
		}
	case ends:
		for n := i + 1; n < u.to && s.tokens[n].line == s.tokens[i].line; n++ {
			if s.of(n) == "if" || s.of(n) == "unless" {
				return s.lineOf(n)
			}
		}
		for n := i - 1; n >= max(u.body, i-4*maxHead); n-- {
			if t := s.of(n); s.tokens[n].first && (t == "if" || t == "unless") && s.tokens[n].column < s.tokens[i].column {
				return s.lineOf(n)
			}
		}
	default:
		return s.ifAround(u, i)
	}
	return ""
}

// ifAround is the condition of the innermost "if" with braces, or without, around a token.
func (s *side) ifAround(u *unit, i int) string {
	for open, levels := i, 0; open >= u.body && levels < maxDepth; open, levels = int(s.outer[open]), levels+1 {
		for n := open - 1; n >= max(u.body, open-60); n-- {
			t := s.of(n)
			if s.outer[n] != s.outer[open] {
				continue
			}
			if t == "if" || t == "else" || t == "catch" || t == "case" || t == "guard" {
				return s.plain(n, open)
			}
			if t == ";" || t == "{" || t == "}" || s.tokens[n].first && open != i && s.tokens[n].line < s.tokens[open].line {
				break
			}
		}
		if s.outer[open] < 0 {
			break
		}
	}
	return ""
}

// lineOf is a line's text from a token on.
func (s *source) lineOf(i int) string {
	last := i + 1
	for last < min(len(s.tokens), i+maxHead) && !(s.tokens[last].first && s.outer[last] == s.outer[i]) {
		last++
	}
	return s.plain(i, last)
}
