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

var methodName = regexp.MustCompile("(?:`([^`]+)`|(\\w+))\\s*(?:<[^>]*>)?\\(")

// testcasesOf lists the tests of a side, in order.
func testcasesOf(f *file, s side) []*testcase {
	if s.path == "" || !isTest(s.path) {
		return nil
	}
	var out []*testcase
	lang := languageOf(s.path)
	start, mark := testStarts[lang], testMarks[lang]
	inert := commented(s)
	for i := 0; i < len(s.lines); i++ {
		switch {
		case inert[i] || lang == python && !collected(s, i):
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
			if at < 0 {
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
// Python string, that goes over several lines.
func commented(s side) []bool {
	out := make([]bool, len(s.lines))
	until := ""
	for i, line := range s.lines {
		out[i] = until != ""
		rest := line
		if lang := languageOf(s.path); lang == python {
			for rest != "" {
				if until == "" {
					at := strings.IndexAny(rest, `"'#`)
					if at < 0 || rest[at] == '#' {
						break
					}
					rest = rest[at:]
					if mark := rest[:min(3, len(rest))]; mark == `"""` || mark == "'''" {
						until, rest = mark, rest[3:]
						continue
					}
					rest = rest[1+lengthTo(rest[1:], rest[:1], true):]
					continue
				}
				at := strings.Index(rest, until)
				if at < 0 {
					break
				}
				rest, until = rest[at+3:], ""
			}
			continue
		}
		text := strings.TrimSpace(line)
		switch {
		case until == "" && strings.HasPrefix(text, "/*"):
			until, rest = "*/", text[2:]
		case until == "" && text == "=begin":
			until, rest = "=end", ""
		}
		if until != "" && strings.Contains(rest, until) {
			until = ""
		}
	}
	return out
}

var pythonClass = regexp.MustCompile(`^\s*class (\w+)\s*(?:\(([^)]*)\))?\s*:`)

// collected reports whether pytest looks for tests where a line lies: outside of
// classes, or in one that is named as a test, derives from one, or is derived from.
// See https://docs.pytest.org/en/stable/explanation/goodpractices.html#conventions-for-python-test-discovery
func collected(s side, at int) bool {
	depth := indentation(s.lines[at])
	if depth == 0 || !testStarts[python].MatchString(s.lines[at]) {
		return true
	}
	for i := at - 1; i >= 0; i-- {
		if strings.TrimSpace(s.lines[i]) == "" || indentation(s.lines[i]) >= depth {
			continue
		}
		m := pythonClass.FindStringSubmatch(s.lines[i])
		if m == nil {
			return true
		}
		return strings.Contains(m[1], "Test") || strings.Contains(m[2], "Test") ||
			slices.ContainsFunc(s.lines, func(l string) bool {
				c := pythonClass.FindStringSubmatch(l)
				return c != nil && slices.Contains(word.FindAllString(c[2], -1), m[1])
			})
	}
	return true
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
