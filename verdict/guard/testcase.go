package guard

import (
	"regexp"
	"slices"
	"strings"
)

// testcase is one test of a side.
type testcase struct {
	block
	f     *file
	s     side
	first int             // its first line, with the annotations above it
	set   map[string]bool // the tokens of its body and annotations
}

func (t *testcase) body() []string { return t.s.lines[t.start-1 : t.stop] }

// whole is the body with the annotations above it.
func (t *testcase) whole() []string { return t.s.lines[t.first-1 : t.stop] }

// testStarts recognise a test by its first line. The first group that is not
// empty is its name.
var testStarts = map[language]*regexp.Regexp{
	golang:     regexp.MustCompile(`^func ((?:Test|Fuzz|Example)(?:[^\p{Ll}\W][\pL\pN_]*)?)\(`),
	javascript: regexp.MustCompile("^\\s*(?:x|f)?(?:it|test|specify|Scenario)(?:\\.\\w+)*\\s*(?:\\(|`)(?:\\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`))?"),
	python:     regexp.MustCompile(`^\s*(?:async\s+)?def (test\w*)\(`),
	ruby:       regexp.MustCompile(`^\s*(?:(?:x|f|p)?(?:it|specify|example|scenario|test)\b\s*(?:\(|"([^"]*)"|'([^']*)'|\{|do\b)|def (test_\w+))`),
}

// testMarks recognise the annotation that makes a test of the method below.
var testMarks = map[language]*regexp.Regexp{
	java:   regexp.MustCompile(`^\s*@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property|Theory)\b`),
	rust:   regexp.MustCompile(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|proptest|quickcheck|wasm_bindgen_test)\b`),
	csharp: regexp.MustCompile(`^\s*\[(?:.*,\s*)?(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|SkippableFact)\b`),
}

// unfound is a method that runners do not find, whatever stands above it.
var unfound = regexp.MustCompile(`^\s*(?:@\w+\s+)*(?:private|static|(?:protected|public|final) static)\s`)

var methodName = regexp.MustCompile("(?:`([^`]+)`|(\\w+))\\s*(?:<[^>]*>)?\\(")

// testcasesOf lists the tests of a side, in order.
func testcasesOf(f *file, s side) []*testcase {
	if s.path == "" || !isTest(s.path) {
		return nil
	}
	var out []*testcase
	lang := languageOf(s.path)
	start, mark := testStarts[lang], testMarks[lang]
	inert, passed := commented(s), make([]bool, len(s.lines))
	if lang == python {
		passed = unnamed(s)
	}
	for i := 0; i < len(s.lines); i++ {
		switch {
		case inert[i] || passed[i]:
		case start != nil:
			if m := start.FindStringSubmatch(s.lines[i]); m != nil {
				first := i + 1
				for first > 1 && strings.HasPrefix(s.at(first-1), "@") {
					first--
				}
				out = append(out, newTestcase(f, s, firstOf(m[1:]), first, i+1))
			}
		case mark != nil && mark.MatchString(s.lines[i]):
			at := methodBelow(s, i)
			if at < 0 || unfound.MatchString(s.lines[at]) {
				continue
			}
			first := i + 1
			for first > 1 && annotation(s.at(first-1)) {
				first--
			}
			out = append(out, newTestcase(f, s, firstOf(methodName.FindStringSubmatch(s.lines[at])[1:]), first, at+1))
			i = at
		}
	}
	return out
}

// commented says of each line of a side whether it lies within a comment, or a
// Python string, that began on a line before it.
func commented(s side) []bool {
	out := make([]bool, len(s.lines))
	until := "" // what ends it
	for i, line := range s.lines {
		out[i] = until != ""
		if languageOf(s.path) == python {
			until = pythonString(line, until)
			continue
		}
		text := strings.TrimSpace(line)
		switch {
		case until == "" && strings.HasPrefix(text, "/*"):
			until, text = "*/", text[2:]
		case until == "" && text == "=begin":
			until = "=end"
		}
		if until != "" && strings.Contains(text, until) {
			until = ""
		}
	}
	return out
}

// pythonString is the quotes that end the string of several lines which is open
// after a line, or "", given those before it.
func pythonString(line, until string) string {
	for line != "" {
		if until != "" {
			_, rest, found := strings.Cut(line, until)
			if !found {
				return until
			}
			line, until = rest, ""
			continue
		}
		at := strings.IndexAny(line, `"'#`)
		if at < 0 || line[at] == '#' {
			return ""
		}
		line = line[at:]
		if mark := line[:1]; strings.HasPrefix(line, strings.Repeat(mark, 3)) {
			line, until = line[3:], strings.Repeat(mark, 3)
		} else {
			line = line[1+lengthTo(line[1:], mark, true):]
		}
	}
	return until
}

var pythonClass = regexp.MustCompile(`^\s*class (\w+)\s*(?:\(([^)]*)\))?\s*:`)

// unnamed says of each line whether it lies in a class that pytest passes over: one
// that is not named as a test, derives from none and is derived from by none. See
// https://docs.pytest.org/en/stable/explanation/goodpractices.html#conventions-for-python-test-discovery
func unnamed(s side) []bool {
	parents := map[string]bool{}
	for _, line := range s.lines {
		if m := pythonClass.FindStringSubmatch(line); m != nil {
			for _, name := range word.FindAllString(m[2], -1) {
				parents[name] = true
			}
		}
	}
	out := make([]bool, len(s.lines))
	within := -1 // the indentation of such a class
	for i, line := range s.lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if indentation(line) <= within {
			within = -1
		}
		out[i] = within >= 0
		m := pythonClass.FindStringSubmatch(line)
		if within < 0 && m != nil && !strings.Contains(m[1]+m[2], "Test") && !parents[m[1]] {
			within = indentation(line)
		}
	}
	return out
}

func newTestcase(f *file, s side, name string, first, start int) *testcase {
	t := &testcase{block: block{name, start, stopOf(s.lines, start)}, f: f, s: s, first: first}
	t.set = tokens(slices.Concat(s.lines[first-1:start-1], t.body()[1:]))
	if t.start == t.stop {
		t.set = tokens(t.whole())
	}
	return t
}

func firstOf(groups []string) string {
	return groups[max(0, slices.IndexFunc(groups, func(g string) bool { return g != "" }))]
}

func annotation(text string) bool {
	return strings.HasPrefix(text, "@") || strings.HasPrefix(text, "#[") || strings.HasPrefix(text, "[")
}

// methodBelow is the index of the method that a test's annotations stand above,
// or -1. Annotations may go over several lines.
func methodBelow(s side, from int) int {
	open := 0
	for i := from; i < min(len(s.lines), from+60); i++ {
		text := s.at(i + 1)
		if open > 0 || annotation(text) {
			open += balance(text)
			if open > 0 || !inlineMethod(text) {
				continue
			}
		}
		if text == "" || strings.HasPrefix(text, "//") {
			continue
		}
		if methodName.MatchString(text) {
			return i
		}
		return -1
	}
	return -1
}

// inlineMethod reports whether a line of annotations ends with the method.
func inlineMethod(text string) bool {
	return strings.HasSuffix(text, "{") && (strings.Contains(text, "void ") || strings.Contains(text, "fun ") || strings.Contains(text, "fn "))
}

// pairing says which test of before lives on as which of after.
type pairing struct {
	before, after []*testcase
	now           map[*testcase]*testcase
	was           map[*testcase]*testcase
}

// pairTests matches tests by file and name, then by name anywhere, then by what
// they contain: a renamed test keeps most of its body, and one that became a
// case of a table brings its values along.
func pairTests(p *patch) *pairing {
	m := &pairing{now: map[*testcase]*testcase{}, was: map[*testcase]*testcase{}}
	for _, f := range p.files {
		m.before = append(m.before, testcasesOf(f, f.old)...)
		m.after = append(m.after, testcasesOf(f, f.new)...)
	}
	for _, key := range []func(t *testcase) string{
		func(t *testcase) string { return t.f.path() + "\x00" + t.name + "\x00" + strings.Join(t.body(), "\n") },
		func(t *testcase) string { return t.f.path() + "\x00" + t.name },
		func(t *testcase) string { return string(languageOf(t.s.path)) + "\x00" + t.name },
	} {
		m.match(key)
	}
	m.matchBodies()
	for _, b := range m.before {
		if m.now[b] == nil {
			m.join(b)
		}
	}
	return m
}

func (m *pairing) match(key func(*testcase) string) {
	free := map[string][]*testcase{}
	for _, a := range m.after {
		if m.was[a] == nil {
			free[key(a)] = append(free[key(a)], a)
		}
	}
	for _, b := range m.before {
		if list := free[key(b)]; m.now[b] == nil && len(list) > 0 {
			m.now[b], m.was[list[0]] = list[0], b
			free[key(b)] = list[1:]
		}
	}
}

const (
	// maxPairs bounds how many pairs of tests are compared by what they contain.
	maxPairs = 200_000
	// alike is how much of a test has to be found again.
	alike = 0.75
)

func (m *pairing) matchBodies() {
	pairs := 0
	for _, b := range m.before {
		if m.now[b] != nil || len(b.set) < 3 {
			continue
		}
		var best *testcase
		var most float64
		for _, a := range m.after {
			if pairs++; pairs > maxPairs {
				return
			}
			if languageOf(a.s.path) != languageOf(b.s.path) {
				continue
			}
			if s := share(b.owed(m.was[a]), a.set); s > most {
				best, most = a, s
			}
		}
		if most >= alike {
			m.now[b] = best
			if m.was[best] == nil {
				m.was[best] = b
			}
		}
	}
}

// owed are the tokens of a test that another one has to bring in order to stand
// for it: if that one was a test before, only what it did not have already.
func (t *testcase) owed(was *testcase) map[string]bool {
	if was == nil {
		return t.set
	}
	out := map[string]bool{}
	for tok := range t.set {
		if !was.set[tok] {
			out[tok] = true
		}
	}
	return out
}

var numeral = regexp.MustCompile(`-?\b\d[\w.]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)

// join matches a test with one that is new and has a row for it: a line with all the
// values of its assertions, which calls what it called.
func (m *pairing) join(b *testcase) {
	var values []string
	for _, c := range claims(b) {
		values = append(values, numeral.FindAllString(c.text, -1)...)
	}
	if len(values) < 2 {
		return
	}
	called := calls(b.body()[min(1, len(b.body())-1):])
	for _, a := range m.after {
		if was := m.was[a]; was == nil || was.name == a.name || languageOf(a.s.path) != languageOf(b.s.path) || slices.ContainsFunc(called, func(name string) bool { return !a.set[name] }) {
			continue
		}
		for _, line := range a.body() {
			if caseRow.MatchString(strings.TrimSpace(line)) && slices.Equal(numeral.FindAllString(line, -1), values) {
				m.now[b] = a
				return
			}
		}
	}
}
