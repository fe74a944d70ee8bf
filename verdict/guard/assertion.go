package guard

import (
	"regexp"
	"slices"
	"strings"
)

var asserting = regexp.MustCompile(`\b(?:[aA]ssert\w*|expect\w*|[sS]hould\w*|require\.\w+|t\.(?:Error|Fatal|Fail)\w*|verify\w*|check\w*|must\w*|refute\w*|is\.\w+|raises|cmp\.Diff|matches!|panic!|fail)\b|\bmust_|^// Output:`)

// goCondition is how Go without a library asserts: a condition, then t.Errorf.
var goCondition = regexp.MustCompile(`^(?:\} else )?if .*\{$`)

// strengths order assertions. The first pattern that fits decides.
var strengths = []struct {
	strength int
	pattern  *regexp.Regexp
}{
	{0, regexp.MustCompile(`&& false\b|\|\| true\b|\band False\b|\bor True\b`)},
	{0, regexp.MustCompile(`(?i)assert(?:True)?!?\(?\s*\(?true\)?[);]*$|expect\(true\)|assert True$|assert_true\(true\)|assertThat\(true\)`)},
	{1, regexp.MustCompile(`\.(?:toBeTruthy|toBeFalsy|toBeDefined|anything|toThrow(?:Error)?)\(\)|toHaveBeenCalled\(\)|not\.toBe(?:Null|Undefined)|\b(?:Not(?:Nil|Empty|Zero|Null|BeNull)|[iI]sNot(?:Nil|Null|Empty|None)\w*)\b|assert(?:Is)?Not(?:None|Null|Empty)|is not None|be_truthy|not_to be_nil|be_present|refute_nil|raise_error\s*$|raises\((?:Exception|BaseException)\b|assertRaises\((?:Exception|BaseException)\b|assertThrows\((?:Exception|Throwable|RuntimeException)\b|assertThrows<(?:Exception|Throwable)>|Throws<Exception>|is_(?:ok|some|err|none)\(\)|\b(?:require|assert)\.Error\(|should_panic\]|NotThrow|DoesNotThrow|assert_called(?:_once)?\(\)`)},
	{1, regexp.MustCompile(`^if err [!=]= nil \{$|^assert [\w.]+(?:\([^()]*\))?(?:,.*)?$|len\([\w.]+\) (?:[!=]= ?0|> ?0)|^assert!\([\w.]+\);$|assertTrue\([\w.]+\);?$|if (?:got|result|out|res) == (?:nil|"")|size\(\)\s*>\s*0|\.length\)\.toBeGreaterThan\(0\)`)},
	{2, regexp.MustCompile(`InDelta|InEpsilon|CloseTo|AlmostEqual|approx|Contain|toMatch\(|Subset|ElementsMatch|Greater|Less|>=|<=|[^-=]> | < |Within|[sS]tartsWith|HasPrefix|include\(|\bIn\(|any\(|match\(|matches!|be_within|atMost\w*\(|atLeast\w*\(|\bany[A-Z]\w*\(\)|\bany\(|\.ANY\b|IsAny`)},
	{3, regexp.MustCompile(`Equal|toBe\(|assert_eq!|assert_equal|\beq\b|AreSame|\.Is\(|ErrorIs|ErrorAs|errors\.Is|JSONEq|==|!=|EqualTo|\.Be\(|toThrow|toHaveBeenCalled|raises\(|assertRaises|assertThrows|Throws<|toHaveLength|DeepEqual|Snapshot|is true|raise_error|assertSame|IsType|instance_of|^(?:\w+\.)?verify\(|\.Verify\(|called_(?:once_)?with|assert_has_calls|assert_not_called`)},
}

// strengthOf is how exact an assertion is, from 0 (true of anything) to 3 (one
// value); -1 when it is not known.
func strengthOf(line string) int {
	if vacant(line) {
		return 0
	}
	for _, s := range strengths {
		if s.pattern.MatchString(line) {
			return s.strength
		}
	}
	return -1
}

// claim is an assertion of a test.
type claim struct {
	text string
	line int
}

func claims(t *testcase) []claim {
	var out []claim
	lines := t.body()
	for i, raw := range lines {
		text := strings.TrimSpace(raw)
		if i == 0 && t.stop > t.start || strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "// Output:") || strings.HasPrefix(text, "#") {
			continue
		}
		switch {
		case languageOf(t.s.path) == golang && goCondition.MatchString(text) && i+1 < len(lines) && asserting.MatchString(lines[i+1]):
			out = append(out, claim{text, t.start + i})
		case languageOf(t.s.path) == golang && strings.HasPrefix(text, "t.") && i > 0 && goCondition.MatchString(strings.TrimSpace(lines[i-1])):
		case asserting.MatchString(text):
			out = append(out, claim{text, t.start + i})
		}
	}
	for i := t.first; i < t.start; i++ { // "#[should_panic(expected = …)]"
		if strings.Contains(t.s.at(i), "should_panic") {
			out = append(out, claim{t.s.at(i), i})
		}
	}
	return out
}

// linePool counts the lines that appear in the test files of a change, for
// what moved.
func linePool(p *patch) map[string]int {
	pool := map[string]int{}
	for _, f := range p.files {
		if !isTest(f.path()) {
			continue
		}
		for _, line := range f.old.lines {
			pool[strings.TrimSpace(line)]--
		}
		for _, line := range f.new.lines {
			pool[strings.TrimSpace(line)]++
		}
	}
	return pool
}

// weakened compares a test with itself.
func weakened(b, a *testcase, gone map[string]bool, pool map[string]int) []Hit {
	if slices.Equal(b.whole(), a.whole()) {
		return nil
	}
	was, is := claims(b), claims(a)
	hit := func(kind Kind, from, to claim, why string) Hit {
		line := to.line
		if to.text == "" {
			line = from.line
		}
		return Hit{kind, a.f.path(), line, from.text, to.text, why}
	}
	if len(a.body()) > 1 {
		first := firstLine(a)
		if earlyReturn.MatchString(first) && (len(b.body()) < 2 || firstLine(b) != first) && (a.stop-a.start > 2 || len(was) > 0) {
			return []Hit{hit(Test, claim{b.s.at(b.start), b.start}, claim{first, a.start + 1}, "The test ends before it has tested anything.")}
		}
	}
	for _, find := range []func(b, a *testcase) []Hit{idle, buried, fewer} {
		if hits := find(b, a); len(hits) > 0 {
			return hits
		}
	}
	was, is = was[:min(len(was), MaxHits)], is[:min(len(is), MaxHits)]
	removed, added := differ(was, is), differ(is, was)
	helped := assisted(a) && !assisted(b)
	if len(was) > 0 && len(is) == 0 && !helped {
		return []Hit{hit(Test, was[0], claim{a.s.at(a.start), a.start}, "The test asserts nothing any more.")}
	}
	if hits := aside(b, a, was, is, gone); len(hits) > 0 {
		return hits
	}
	var hits []Hit
	lostClaim := -1
	for i, r := range removed {
		if pool[r.text] == 0 && goCondition.MatchString(r.text) && unheard(a, r.text) {
			hits = append(hits, hit(Assertion, r, claim{r.text, a.start}, "What failed the test no longer does."))
			continue
		}
		if mentions(r.text, gone) || pool[r.text] >= 0 {
			continue
		}
		w, ok := counterpart(r, added)
		if !ok && len(removed) == 1 && len(added) == 1 {
			w, ok = added[0], true
		}
		switch {
		case !ok:
			lostClaim = i
		case widened(r.text, w.text):
			hits = append(hits, hit(Assertion, r, w, "A tolerance, a timeout or a limit in the test is widened."))
		case excused(r.text, w.text):
			hits = append(hits, hit(Assertion, r, w, "What failed the test fails it only under a further condition."))
		case strengthOf(a.chain(w)) >= 0 && strengthOf(a.chain(w)) < strengthOf(b.chain(r)):
			hits = append(hits, hit(Assertion, r, w, "The assertion accepts more results than it did."))
		}
	}
	if len(added) == 0 && lostClaim >= 0 && !helped {
		hits = append(hits, hit(Assertion, removed[lostClaim], claim{}, "An assertion is gone and nothing stands in its place."))
	}
	return append(hits, append(droppedCases(b, a, gone, pool), limits(b, a)...)...)
}

// chain is a claim with the calls that its next lines add to it.
func (t *testcase) chain(c claim) string {
	out := c.text
	for line := c.line + 1; line <= t.stop && strings.HasPrefix(t.s.at(line), ".") && line < c.line+maxBranch; line++ {
		out += t.s.at(line)
	}
	return out
}

// excusing finds conditions of a helper that came to hold less often. What else it
// asserts another one may assert for it.
func excusing(b, a *testcase) []Hit {
	removed, added := differ(claims(b), claims(a)), differ(claims(a), claims(b))
	for _, r := range removed[:min(len(removed), MaxHits)] {
		if w, ok := counterpart(r, added); ok && excused(r.text, w.text) {
			return []Hit{{Assertion, a.f.path(), w.line, r.text, w.text, "What failed the test fails it only under a further condition."}}
		}
	}
	return nil
}

// excused reports whether a condition that fails a test came to hold less often: it is
// the old one and something else.
func excused(before, after string) bool {
	if !goCondition.MatchString(before) || !goCondition.MatchString(after) {
		return false
	}
	was := strings.TrimSuffix(before[strings.LastIndex(before, "; ")+1:], " {")
	was = strings.TrimPrefix(strings.TrimSpace(was), "if ")
	return strings.Contains(after, was+" && ") || strings.Contains(after, " && "+was+" {") || strings.Contains(after, "("+was+") && ") || strings.Contains(after, " && ("+was+") {")
}

// unheard reports whether a condition still stands in a test and nothing is logged
// where it holds; what is logged, quieted finds.
func unheard(t *testcase, condition string) bool {
	body := t.body()
	i := slices.IndexFunc(body, func(l string) bool { return strings.TrimSpace(l) == condition })
	return i >= 0 && i+1 < len(body) && !strings.Contains(body[i+1], ".Log")
}

// firstLine is the first line of a test's body.
func firstLine(t *testcase) string {
	for _, line := range t.body()[1:] {
		if text := strings.TrimSpace(line); text != "{" {
			return text
		}
	}
	return ""
}

// assisted reports whether a test calls what its own file defines and asserts by.
func assisted(t *testcase) bool {
	called := calls(t.body()[min(1, len(t.body())-1):])
	return slices.ContainsFunc(assistants(t.s), func(h block) bool {
		return slices.Contains(called, h.name) && works(t.s, h, asserting)
	})
}

// aside finds claims that no longer look at what is tested, but at what the test
// itself says, or not at all.
func aside(b, a *testcase, was, is []claim, gone map[string]bool) []Hit {
	old, now := flowOf(b), flowOf(a)
	removed := differ(was, is)
	for _, w := range is {
		from := removed
		if at := slices.IndexFunc(was, func(c claim) bool { return c.text == w.text }); at >= 0 {
			from = was[at:]
		}
		if len(from) > 0 && !messages.MatchString(w.text) && now.constant(a, w) && !old.constant(b, from[0]) {
			return []Hit{{Assertion, a.f.path(), w.line, from[0].text, w.text, "The assertion looks at nothing but what the test itself says."}}
		}
	}
	had, speaks := b.speaks(), a.speaks()
	for _, r := range removed {
		if strengthOf(r.text) > 1 && !strings.HasSuffix(r.text, "err != nil {") && !mentions(r.text, gone) && deaf(b, r, old, now, had, speaks) {
			return []Hit{{Assertion, a.f.path(), a.start, r.text, a.s.at(a.start), "The test no longer looks at what this assertion looked at."}}
		}
	}
	return nil
}

// differ lists the claims of a that b does not make.
func differ(a, b []claim) []claim {
	count := map[string]int{}
	for _, c := range b {
		count[c.text]++
	}
	var out []claim
	for _, c := range a {
		if count[c.text] > 0 {
			count[c.text]--
			continue
		}
		out = append(out, c)
	}
	return out
}

func mentions(text string, names map[string]bool) bool {
	for _, t := range token.FindAllString(text, -1) {
		if names[t] {
			return true
		}
	}
	return false
}

// frameworkWord is what assertions have in common whatever they are about.
var frameworkWord = regexp.MustCompile(`(?i)^(assert\w*|expect|require|should|t|to\w*|not|is\w*|equals?|be|with|that|if|err|nil|none|null|true|false|self|eq|the|a|contain\w*)$`)

// counterpart is the added claim that is about the same thing.
func counterpart(r claim, added []claim) (claim, bool) {
	var best claim
	most := 0
	subject := tokens([]string{r.text})
	for _, a := range added {
		n := 0
		for t := range tokens([]string{a.text}) {
			if subject[t] {
				n++
				if !frameworkWord.MatchString(t) {
					n += 3
				}
			}
		}
		if n > most {
			best, most = a, n
		}
	}
	return best, most > 3
}

// caseRow is one row of a table of cases, or the name of one that goes over
// several lines.
var caseRow = regexp.MustCompile("^(?:[\\[({].*[\\])}],?|(?:\"[^\"]*\"|`[^`]*`):\\s*\\{.*\\},?|pytest\\.param\\(.*\\),?|(?:name|desc|description|title|scenario):\\s*[\"'`].*,|\"[^\"]*,[^\"]*\",?|\\[?@?(?:InlineData|TestCase|CsvSource|DataRow|case)\\(.*\\)\\]?)$")

// droppedCases finds rows that are gone from a test's table of cases.
func droppedCases(b, a *testcase, gone map[string]bool, pool map[string]int) []Hit {
	rows := func(t *testcase) []claim {
		var out []claim
		for i, line := range t.whole() {
			if text := strings.TrimSpace(line); caseRow.MatchString(text) {
				out = append(out, claim{text, t.first + i})
			}
		}
		return out
	}
	was, is := rows(b), rows(a)
	if len(is) >= len(was) || len(is) == 0 {
		return nil
	}
	for _, r := range differ(was, is) {
		if pool[r.text] < 0 && !mentions(r.text, gone) {
			return []Hit{{Assertion, a.f.path(), r.line, r.text, "", "A case is dropped from the test's table."}}
		}
	}
	return nil
}

var (
	digits    = regexp.MustCompile(`\d[\d_]*(?:\.\d+)?(?:e-?\d+)?`)
	tolerance = regexp.MustCompile(`(?i)timeout|toleran|delta|epsilon|within|\brel=|\babs=|approx|thresh|eventually|places|closeto|retries|max_?(?:diff|wait|duration)`)
	precision = regexp.MustCompile(`(?i)closeto|places|precision`)
)

// widened reports whether two lines differ only in a number that says how far
// off a result may be.
func widened(before, after string) bool {
	if !tolerance.MatchString(before) || digits.ReplaceAllString(before, "#") != digits.ReplaceAllString(after, "#") {
		return false
	}
	was, is := digits.FindAllString(before, -1), digits.FindAllString(after, -1)
	if len(was) == 0 || len(was) != len(is) {
		return false
	}
	w, _ := number(was[len(was)-1])
	i, _ := number(is[len(is)-1])
	if precision.MatchString(before) && !strings.Contains(before, "delta") && !strings.Contains(before, "isCloseTo") {
		return i < w
	}
	return i > w
}

// limits finds widened limits outside of assertions, such as a timeout constant.
func limits(b, a *testcase) []Hit {
	old := map[string]string{}
	for _, line := range b.whole() {
		if tolerance.MatchString(line) && !asserting.MatchString(line) {
			old[digits.ReplaceAllString(strings.TrimSpace(line), "#")] = strings.TrimSpace(line)
		}
	}
	var hits []Hit
	for i, line := range a.whole() {
		text := strings.TrimSpace(line)
		if was, ok := old[digits.ReplaceAllString(text, "#")]; ok && widened(was, text) {
			hits = append(hits, Hit{Assertion, a.f.path(), a.first + i, was, text, "A tolerance, a timeout or a limit in the test is widened."})
		}
	}
	return hits
}
