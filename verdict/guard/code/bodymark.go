package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// skipCalls are calls within a test that end it as skipped or let it fail: the function's name, with the
// possible receivers; "*" is any receiver.
var skipCalls = map[string]map[string]string{
	"Go": {"Skip": "*", "Skipf": "*", "SkipNow": "*", "Goexit": "runtime"},
	"JavaScript": {"skip": "test it t ctx context this describe testInfo suite", "fixme": "test it testInfo", "fail": "test it", "todo": "t",
		"pending": "", "retries": "this"},
	"Python": {"skip": "pytest", "xfail": "pytest", "importorskip": "pytest", "skipTest": "self", "SkipTest": "*",
		"applymarker": "request", "add_marker": "node"},
	"Ruby": {"skip": "", "pending": "", "omit": "", "omit_if": "", "omit_unless": "", "pend": ""},
	"C#": {"Ignore": "Assert", "Inconclusive": "Assert", "Skip": "Assert", "SkipWhen": "Assert", "SkipUnless": "Assert",
		"That": "Assume"},
	"Java": {"assumeTrue": "*", "assumeFalse": "*", "assumeThat": "*", "assumingThat": "*", "assumeNoException": "*",
		"assumeNotNull": "*", "abort": "*"},
	"Kotlin": {"assumeTrue": "*", "assumeFalse": "*", "assumeThat": "*", "abort": "Assumptions"},
	"Swift":  {"XCTSkip": "*", "XCTSkipIf": "*", "XCTSkipUnless": "*", "XCTExpectFailure": "*", "withKnownIssue": "*"},
	"PHP": {"markTestSkipped": "*", "markTestIncomplete": "*", "markTestSkippedIf": "*", "markTestSkippedUnless": "*",
		"skip": "Environment $scenario", "incomplete": "$scenario"},
	"C": {"GTEST_SKIP": "*", "SKIP": "", "RETURN_SKIP": "", "QSKIP": "", "QEXPECT_FAIL": "", "cl_skip": "", "skip": "", "skipping": "",
		"g_test_skip": "", "g_test_incomplete": "", "TEST_IGNORE": "", "TEST_IGNORE_MESSAGE": "", "TEST_SKIP": "", "CTEST_SKIP": "",
		"ksft_exit_skip": "", "ksft_test_result_skip": "", "test_skip": "", "test__skip": ""},
	"Scala": {"cancel": "", "pending": "", "pendingUntilFixed": "", "assume": "", "skipped": ""},
	"Dart":  {"markTestSkipped": "*"},
	"shell": {"skip": "", "requires": ""}, "PowerShell": {"Set-ItResult": "*"},
}

// failing are the calls that expect a failure, asking the calls whose argument is a condition.
var (
	failing = set("xfail fail XCTExpectFailure withKnownIssue pendingUntilFixed QEXPECT_FAIL")
	asking  = set("omit_if omit_unless assumeTrue assumeFalse assumeThat assumingThat XCTSkipIf XCTSkipUnless If IfNot assume That " +
		"importorskip requires SkipWhen SkipUnless markTestSkippedIf markTestSkippedUnless")
)

// skipReasons follow "skip" in the name of a function that skips the test which calls it.
var skipReasons = []string{"If", "Unless", "_if", "_unless", "Without", "_without", "On", "_on", "Test", "_test", "Long", "Flaky"}

// bodyMarks reads what a function does in its body to skip or end a test.
func (s *side) bodyMarks(u *unit, found func(effect, string, int)) {
	skipped := map[int32]bool{} // the blocks that skip the test: a return there belongs to that
	names, add := skipCalls[s.lang.name], func(e effect, cond string, i int) {
		skipped[s.outer[i]] = skipped[s.outer[i]] || e == skips
		if start := s.receiverOf(i); cond == "" && s.of(start-1) == ")" && s.tokens[start-1].mate > 0 &&
			s.of(int(s.tokens[start-1].mate)-1) == "if" {
			cond = s.plain(int(s.tokens[start-1].mate)-1, start) // without braces
		}
		found(e, cmp.Or(cond, strings.TrimPrefix(u.guardOf(i), "#")), i)
	}
	u.own(func(i int) {
		if s.kindOf(i) != word {
			return
		}
		if open := u.enclosed(i); open > 0 {
			add(leaves, "unless "+s.plain(i+1, open), i)
		}
		t, args := s.of(i), i+2
		receivers, known := names[t]
		switch {
		case known && s.receiver(i, receivers) && (s.calls(i) || s.commands[i] || s.lang.python || s.lang.dashes ||
			s.lang.name == "Scala" && s.endsHere(i)):
			e, cond := skips, ""
			if around := s.conditionsAt(i, u.body); len(around) > 0 {
				cond = around[0].text
			}
			if cond == "" && s.inClosure(i, u.body) {
				cond = "func" // it skips only when the closure is called
			}
			switch marker := markers.FindString(s.arguments(i + 1)); {
			case failing[t]:
				e = fails
			case t == "retries":
				e = retry
			case t != "applymarker" && t != "add_marker":
			case marker == "":
				return
			case marker == "xfail":
				e = fails
			}
			if when := s.when(i); when != "" {
				cond = when
			}
			if asking[t] && s.of(i+1) == "(" {
				cond = t + " " + s.arguments(i+1)
			} else if asking[t] && s.lang.shell {
				cond = s.lineOf(i)
			} else if s.lang.name == "JavaScript" && e != retry && s.kindOf(args) != text && s.of(args) != ")" {
				cond = s.arguments(i + 1)
			}
			add(e, cond, i)
		case s.lang.name == "C#" && s.of(i-1) == "." && s.of(i-2) == "Skip" && s.of(i+1) == "(":
			cond := t + " " + s.arguments(i+1)
			if around := s.conditionsAt(i, u.body); len(around) > 0 {
				cond = around[0].text
			} else if t == "Inconclusive" {
				cond = ""
			}
			add(skips, cond, i)
		case t == "throw" || t == "raise":
			if s.throwsSkip(i) {
				cond := ""
				if around := s.conditionsAt(i, u.body); len(around) > 0 {
					cond = around[0].text
				}
				add(skips, cond, i)
			}
		case s.skipHelper(i), s.skippers[t] && (s.of(i+1) == "(" || s.commands[i]) && i >= u.body:
			cond := t
			if s.commands[i] {
				cond = s.lineOf(i)
			}
			if s.of(i+1) == "(" {
				cond += " " + s.canonical(i+2, int(s.tokens[i+1].mate))
			}
			add(skips, cond, i)
		case (t == "return" || t == "next" && s.lang.ruby) && s.of(i+1) != "(" && u.to-u.body > 3 && s.endsHere(i) &&
			!(skipped[s.outer[i]] && s.lang.layout == braces):
			if start := u.start(); i == start {
				add(leaves, "", i)
			} else if around := s.conditionsAt(i, u.body); len(around) > 0 && around[0].at == start {
				add(leaves, around[0].text, i)
			}
		}
	})
}

// enclosed is the brace of a block that depends on the system and has all statements of a test, if a token begins it; 0 if
// not, and for a block that skips.
func (u *unit) enclosed(i int) int {
	s := u.side
	if s.lang.layout != braces || u.role != test || s.of(i) != "if" || i != u.start() {
		return 0
	}
	for open := i + 1; open < u.to && s.of(open) != ";"; open++ {
		switch mate := int(s.tokens[open].mate); {
		case mate < open:
		case s.of(open) == "{":
			skips := slices.ContainsFunc(s.tokens[open:mate], func(t token) bool {
				_, is := skipCalls[s.lang.name][s.text[t.from:t.to]]
				return is
			})
			if skips || mate+2 < u.to || !matchesAny(platform, s.plain(i, open)) {
				return 0
			}
			return open
		default:
			open = mate
		}
	}
	return 0
}

// when is the condition of a known issue in Swift: withKnownIssue { … } when: { … }.
func (s *side) when(i int) string {
	open := i + 1
	if s.of(open) == "(" && s.tokens[open].mate > 0 {
		open = int(s.tokens[open].mate) + 1
	}
	if s.of(i) != "withKnownIssue" || s.of(open) != "{" || s.tokens[open].mate < 0 {
		return ""
	}
	if n := int(s.tokens[open].mate) + 1; s.of(n) == "when" && s.of(n+2) == "{" {
		return "when " + s.arguments(n+2)
	}
	return ""
}

var (
	// markers matches a mark of pytest that a test puts on itself.
	markers = regexp.MustCompile(`skip|xfail`)
	// skippedBy match the names of exceptions with which a test ends as skipped.
	skippedBy = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(?:test)?skip(?:ped|ping)?(?:test)?(?:exception|error)?$`),
		regexp.MustCompile(`(?i)^(?:testaborted|inconclusive|ignore|incomplete(?:test)?|assumptionviolated)(?:exception|error)$`),
	}
)

// throwsSkip reports whether a statement throws an exception that ends a test as skipped.
func (s *side) throwsSkip(i int) bool {
	last := ""
	for n := i + 1; n < i+10 && (s.kindOf(n) == word || s.of(n) == "." || s.of(n) == "::" || s.of(n) == "\\"); n++ {
		last = s.of(n)
	}
	return matchesAny(skippedBy, last)
}

// start is the first token of a unit's statements. A function of Kotlin can be a call with a block: fun f() = g { … }.
func (u *unit) start() int {
	s := u.side
	for i := u.body; s.of(u.body-1) == "=" && i < min(u.to, u.body+maxHead); i++ {
		switch mate := int(s.tokens[i].mate); {
		case s.of(i) == "{":
			return i + 1
		case s.of(i) == "(" && mate > i:
			i = mate
		case s.kindOf(i) != word:
			return u.body
		}
	}
	return u.body
}

// endsHere reports whether a return has no value. In Kotlin it may name what it returns from, and in Rust it may be Ok(()).
func (s *side) endsHere(i int) bool {
	if s.lang.rust && s.of(i+1) == "Ok" && s.arguments(i+2) == "( )" {
		i = int(s.tokens[i+2].mate)
	}
	if s.of(i) == "return" && s.of(i+1) == "@" && !s.tokens[i+1].first {
		i += 2
	}
	return i+1 >= len(s.tokens) || s.tokens[i+1].first || s.of(i+1) == ";" || s.of(i+1) == "}"
}

// skipHelper reports whether a statement calls a function whose name says that it skips.
func (s *side) skipHelper(i int) bool {
	t, method, next := s.of(i), s.of(i-1) == "." || s.of(i-1) == "->", s.of(i+1)
	if s.lang.rust && next == "!" {
		next = s.of(i + 2)
	}
	if len(t) < 4 || next != "(" && !s.lang.ruby && !s.commands[i] || method && s.kindOf(i-3) != sign && s.of(i-3) != "}" {
		return false
	}
	if t == strings.ToUpper(t) { // a macro
		t = strings.ToLower(t)
	}
	t = strings.TrimPrefix(t, "XCT")
	rest, ok := strings.CutPrefix(strings.Replace(strings.ToLower(t[:1])+t[1:], "omit", "skip", 1), "skip")
	at := i
	for s.of(at-1) == "try" || s.of(at-1) == "await" {
		at--
	}
	statement := s.tokens[at].first || method && s.tokens[i-2].first
	return ok && statement && (s.named(i+2, nil) == "t" || s.lang.rust && rest == "" && next != s.of(i+1) ||
		slices.ContainsFunc(skipReasons, func(reason string) bool { return strings.HasPrefix(rest, reason) }))
}

// receiver reports whether a call has one of the listed receivers.
func (s *side) receiver(i int, listed string) bool {
	dotted := s.of(i-1) == "." || s.of(i-1) == "->" || s.of(i-1) == "::"
	if listed == "*" {
		return true
	}
	if listed == "" {
		return !dotted && s.of(i-1) != "def" && s.of(i+1) != ":" && s.of(i+1) != "="
	}
	of := s.of(i - 2)
	return dotted && (slices.Contains(strings.Fields(listed), of) || s.lang.name == "JavaScript" && strings.HasSuffix(of, "Test"))
}

// condition is a condition for the code after it to run.
type condition struct {
	text string
	at   int
}

var conditional = set("if elif elseif else unless except rescue catch case guard " +
	"platform_is platform_is_not ruby_version_is ruby_bug conflicts_with not_supported_on") // guards of mspec

// joining are the words and signs that can begin a further line of a condition, or end one.
var joining = set("where && || ,")

// conditionsAt returns the conditions around a token, innermost first, that begin at the token from or after
// it.
func (s *side) conditionsAt(i, from int) (out []condition) {
	if s.lang.shell {
		for _, g := range slices.Backward(s.branches) {
			if from <= g.from && g.from <= i && i < g.to {
				out = append(out, condition{g.cond, g.from})
			}
		}
		return out
	}
	if s.lang.layout == braces {
		for open, levels := i, 0; open >= from && levels < maxDepth; open, levels = int(s.outer[open]), levels+1 {
			for n := open - 1; n >= max(from, open-60); n-- {
				t := s.of(n)
				if s.outer[n] != s.outer[open] {
					continue
				}
				if conditional[t] && (open != i || from > 0) {
					out = append(out, condition{s.plain(n, open), n})
				}
				above := s.tokens[n].first && open != i && s.line(n) < s.line(open)
				if conditional[t] || t == ";" || t == "{" || t == "}" || above && !joining[t] && !joining[s.of(n-1)] {
					break
				}
			}
		}
		return out
	}
	for n := i + 1; s.lang.layout == ends && n < len(s.tokens) && s.line(n) == s.line(i); n++ { // a condition: "… if …"
		if s.of(n) == "if" || s.of(n) == "unless" {
			return append(out, condition{s.lineOf(n), n})
		}
	}
	column := s.tokens[i].column
	for n := i - 1; column > 0 && n >= max(from, i-4*maxHead); n-- {
		t := s.tokens[n]
		if !t.first || t.column >= column || s.lang.python && s.outer[n] >= 0 {
			continue
		}
		column = t.column
		if conditional[s.of(n)] {
			out = append(out, condition{s.lineOf(n), n})
		}
	}
	return out
}

// lineOf is the text of a line from a token to its end.
func (s *source) lineOf(i int) string {
	last := i + 1
	for last < min(len(s.tokens), i+maxHead) && !(s.tokens[last].first && s.outer[last] == s.outer[i]) {
		last++
	}
	return s.plain(i, last)
}
