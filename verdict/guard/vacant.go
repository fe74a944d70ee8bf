package guard

import (
	"regexp"
	"slices"
	"strings"
)

// comparisons are how assertions compare two things: the first two groups.
var comparisons = []*regexp.Regexp{
	regexp.MustCompile(`^assert (.+?) (?:==|is|>=|<=) (.+?)(?:,\s*f?["'].*)?$`),
	regexp.MustCompile(`^(?:await )?expect\((.+)\)\.to(?:Be|Equal|StrictEqual|MatchObject|HaveLength|Match)\((.+)\);?$`),
	regexp.MustCompile(`^expect\((.+)\)\.to (?:eq|eql|be|equal)\(?\s*(.+?)\)?$`),
	regexp.MustCompile(`^(?:\w+[.:]+)*(?:[aA]ssert(?:_?[eE]quals?|Same|Eq|_eq!)|Equal|Equals|Same|AreEqual)\((?:t, ?)?(.+), ?(.+?)\);?$`),
	regexp.MustCompile(`^(?:\} else )?if (?:.*; )?(.+) (?:!=|==) (.+) \{$`),
}

var (
	// unawaited is a promise of JavaScript that nobody waits for.
	unawaited = regexp.MustCompile(`^expect\(.*\)\.(?:resolves|rejects)\.`)
	// pair is a tuple of Python, which is true.
	pair = regexp.MustCompile(`^assert \(.+,\s*f?["'][^"']*["']\)$`)
)

// vacant reports whether an assertion cannot fail by its form alone: it compares a
// thing with itself, or expects nothing of it.
func vacant(line string) bool {
	for _, pattern := range comparisons {
		if m := pattern.FindStringSubmatch(line); m != nil && strings.TrimSpace(m[1]) == strings.TrimSpace(m[2]) {
			return true
		}
	}
	if unawaited.MatchString(line) || pair.MatchString(line) {
		return true
	}
	start := subjectOf.FindString(line)
	if start == "" {
		return false
	}
	open, rest := 1, line[len(start):]
	for i := range len(rest) {
		switch rest[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
		case ',':
			if open == 1 {
				return false // what is expected follows
			}
		}
		if open == 0 {
			return chainOnly.MatchString(rest[i+1:])
		}
	}
	return false
}

var (
	// subjectOf begins an assertion that says first what it is about.
	subjectOf = regexp.MustCompile(`^(?:await )?(?:\w+\.)?(?:expect|assertThat|assertThatCode|assertThatThrownBy|assert_that|verifyThat)\(`)
	// chainOnly are words that lead to a check and are none.
	chainOnly = regexp.MustCompile(`^(?:\.(?:to|be|not|been|is|that|and|have|resolves|rejects)\b|\.(?:as|describedAs)\([^()]*\))*[; ]*$`)
)

var (
	environment = regexp.MustCompile(`os\.(?:Getenv|LookupEnv|environ|getenv)|process\.env|\bENV\[|System\.getenv|env::var|Environment\.GetEnv`)
	condition   = regexp.MustCompile(`^(?:\} else )?(?:if|unless)\b`)
	leaving     = regexp.MustCompile(`^return\b[^(]*$|\breturn;?\s*\}?$`)
	catching    = regexp.MustCompile(`^except\b[^:]*:$|^\}?\s*catch\b.*\{$|^rescue\b`)
	nothing     = regexp.MustCompile(`^(?:pass|return|continue|\}|end|//.*|#.*|console\.\w+\(.*|print\(.*)$`)
	catchAll    = regexp.MustCompile(`^(?:except(?:\s+\(?(?:AssertionError|Exception|BaseException)\b.*)?:|except\s*:|\}?\s*catch\b.*(?:\bAssert\w*Error|\bThrowable|\bError|\bException|\be\b|\berr\b|\berror\b|catch \{).*|rescue(?:\s+(?:Exception|StandardError|=>).*)?)$`)
)

// idle finds what is new in a test and lets it pass without having tested: it ends
// unless the environment says otherwise, or catches what its assertions raise.
func idle(b, a *testcase) []Hit {
	had := map[string]int{}
	for _, l := range b.body() {
		had[strings.TrimSpace(l)]++
	}
	lines, asserts := a.body(), len(claims(b)) > 0
	for i := range lines {
		text, next := strings.TrimSpace(lines[i]), ""
		if had[text] > 0 {
			had[text]--
			continue
		}
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		why := ""
		switch {
		case condition.MatchString(text) && environment.MatchString(text) && (leaving.MatchString(text) || leaving.MatchString(next)):
			why = "The test ends unless its environment says otherwise."
		case catching.MatchString(text) && catchAll.MatchString(text) && nothing.MatchString(next) && asserts:
			why = "What the test's assertions raise is caught and forgotten."
		default:
			continue
		}
		return []Hit{{Test, a.f.path(), a.start + i, "", text, why}}
	}
	return nil
}

var failing = regexp.MustCompile(`\b([tb])\.(?:Fatal|Error)(f?)\(`)

// quieted finds Go assertions that log what they failed with, and the helpers of
// tests that assert nothing any more.
func quieted(f *file) []Hit {
	if !isTest(f.old.path) || !isTest(f.new.path) || f.old.text == f.new.text {
		return nil
	}
	var hits []Hit
	if languageOf(f.new.path) == golang {
		logs := map[string]int{} // what a quieted line would be
		for i := range f.old.lines {
			if text := f.old.at(i + 1); failing.MatchString(text) {
				logs[failing.ReplaceAllString(text, "$1.Log$2(")]++
			} else {
				logs[text]--
			}
		}
		for i := range f.new.lines {
			if text := f.new.at(i + 1); failing.MatchString(text) {
				logs[failing.ReplaceAllString(text, "$1.Log$2(")]--
			}
		}
		for i := range f.new.lines {
			if text := f.new.at(i + 1); logs[text] > 0 {
				logs[text]--
				hits = append(hits, Hit{Assertion, f.path(), i + 1, "", text, "What failed the test is only logged."})
			}
		}
	}
	after := map[string]block{}
	for _, h := range assistants(f.new) {
		after[h.name] = h
	}
	for _, h := range assistants(f.old) {
		now, there := after[h.name]
		switch {
		case !there || !function.MatchString(f.old.lines[h.start-1]) || !function.MatchString(f.new.lines[now.start-1]) || !works(f.old, h, asserting):
		case !works(f.new, now, statement):
			hits = append(hits, Hit{Assertion, f.path(), now.start, f.old.at(h.start), f.new.at(now.start), "The helper " + h.name + " asserts nothing any more."})
		case h.name != "TestMain" && !slices.Equal(f.old.lines[h.start-1:h.stop], f.new.lines[now.start-1:now.stop]):
			b, a := newTestcase(f, f.old, h.name, h.start, h.start), newTestcase(f, f.new, now.name, now.start, now.start)
			if found := fewer(b, a); len(found) > 0 {
				hits = append(hits, found...)
			} else {
				hits = append(hits, excusing(b, a)...)
			}
		}
	}
	return hits
}

var (
	function  = regexp.MustCompile(`^\s*(?:\w+\s+)*(?:func|def|function\*?|fn|fun|void)\s.*\(`)
	statement = regexp.MustCompile(`\w`)
)

// works reports whether a line of a helper fits a pattern before the helper returns.
func works(s side, h block, pattern *regexp.Regexp) bool {
	for _, line := range s.lines[h.start:h.stop] {
		text := strings.TrimSpace(line)
		switch {
		case earlyReturn.MatchString(text) && indentation(line) <= indentation(s.lines[h.start]):
			return false
		case strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") || strings.HasSuffix(text, ".Helper()") || text == "end" || text == "pass":
		case pattern.MatchString(text):
			return true
		}
	}
	return false
}
