package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// smothering lines let a test end well whatever its assertions say.
	smothering = regexp.MustCompile(`(?:^|[^.\w])recover\(\)|contextlib\.suppress\(|\bsuppress\((?:AssertionError|Exception)|&testing\.T\{|new\(testing\.T\)|\[:0\]|\brange nil\b|\bin \[\]\s*:|\[\]\.(?:forEach|map)\(|\.slice\(0, ?0\)|\brange\(0\)|\.take\(0\)|\.first\(0\)|\bruntime\.Goexit\(\)|\bos\.Exit\(0\)|\bprocess\.exit\(0?\)|\bsys\.exit\(0?\)|System\.exit\(0\)|Environment\.Exit\(0\)`)
	branching  = regexp.MustCompile(`^(?:\} else )?(?:if|unless|else if|elif)\b`)
	// defining lines give a name to code that runs only when called.
	defining = regexp.MustCompile(`^(?:(?:async )?def (\w+)\(|(?:export )?(?:async )?function (\w+)\(|(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>|(\w+)\s*:?=\s*func\(|(?:final )?[\w<>.]+ (\w+) = \([^)]*\) ->|let (\w+) = \|)`)
	mocking  = regexp.MustCompile(`\b(?:jest|vi)\.(?:mock|doMock|spyOn)\(|@(?:mock\.)?patch(?:\.object)?\(|\bpatch\([\"']|\bpatch\.object\(|monkeypatch\.setattr\(|\ballow\(.*\)\.to receive\(|\bwhen\(.*\)\.thenReturn\(|\bsinon\.stub\(|mocker\.patch`)
)

// buried finds what is new around a test's old assertions and keeps them from being
// made: a condition, a function that nobody calls, an end that is always good, or
// something that stands for what they look at.
func buried(b, a *testcase) []Hit {
	had := map[string]int{}
	for _, line := range b.whole() {
		had[strings.TrimSpace(line)]++
	}
	old := map[string]int{} // how deep each stood
	var whole []string      // those long enough to be known again within a line
	for _, c := range claims(b) {
		if !messages.MatchString(c.text) {
			old[c.text] = indentation(b.s.lines[c.line-1])
		}
		if text := strings.TrimSuffix(c.text, ";"); len(text) > 8 && len(whole) < MaxHits {
			whole = append(whole, text)
		}
	}
	hit := func(i int, why string) []Hit {
		return []Hit{{Test, a.f.path(), a.first + i, "", strings.TrimSpace(a.whole()[i]), why}}
	}
	lines := a.whole()
	if around := enclosing(a.s, a.start); around > 0 && b.name != "TestMain" {
		m := defining.FindStringSubmatch(a.s.at(around))
		if m != nil && !slices.ContainsFunc(b.s.lines, func(l string) bool { return strings.TrimSpace(l) == a.s.at(around) }) && spoken(a.s.lines, firstOf(m[1:])) == 1 {
			return []Hit{{Test, a.f.path(), around, "", a.s.at(around), "The test stands in what nobody calls."}}
		}
	}
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if had[text] > 0 {
			had[text]--
			continue
		}
		holds := func() bool {
			inner := lines[i+1 : min(max(stopOf(lines, i+1), i+1), i+1+maxFlow, len(lines))]
			return slices.ContainsFunc(inner, func(l string) bool {
				depth, stood := old[strings.TrimSpace(l)]
				return stood && indentation(l) > depth
			}) ||
				slices.ContainsFunc(whole, func(c string) bool { return len(text) > len(c)+1 && strings.Contains(text, c) })
		}
		switch m := defining.FindStringSubmatch(text); {
		case messages.MatchString(text):
		case smothering.MatchString(text) && b.name != "TestMain":
			return hit(i, "By this the test ends well whatever its assertions say.")
		case m != nil && i > a.start-a.first && holds() && spoken(lines, firstOf(m[1:])) == 1:
			return hit(i, "The assertion stands in what nobody calls.")
		case branching.MatchString(text) && holds() && !asserting.MatchString(text) && !failsNext(lines, i):
			return hit(i, "The assertion is made only under a condition.")
		}
	}
	return nil
}

// failsNext reports whether a condition is itself what is asserted: it goes on, or what
// follows from it fails the test.
func failsNext(lines []string, i int) bool {
	text := strings.TrimSpace(lines[i])
	return strings.HasSuffix(text, "||") || strings.HasSuffix(text, "&&") || i+1 < len(lines) && failing.MatchString(lines[i+1])
}

// spoken counts how often a name stands in some lines.
func spoken(lines []string, name string) (n int) {
	for _, line := range lines {
		for _, word := range identifier.FindAllString(line, -1) {
			if word == name {
				n++
			}
		}
	}
	return n
}

// enclosing is the line that what begins at a line stands in, by indentation, or 0.
func enclosing(s side, start int) int {
	depth := indentation(s.lines[start-1])
	for i := start - 1; i >= 1 && depth > 0; i-- {
		if s.at(i) != "" && indentation(s.lines[i-1]) < depth {
			return i
		}
	}
	return 0
}

// standIns are the lines of a file by which something is made to stand for something
// else, and that were not there before.
func standIns(f *file) []claim {
	had := map[string]bool{}
	for i := range f.old.lines {
		had[f.old.at(i+1)] = true
	}
	var out []claim
	for i := range f.new.lines {
		if text := f.new.at(i + 1); !had[text] && mocking.MatchString(text) && len(out) < maxFlow {
			out = append(out, claim{text, i + 1})
		}
	}
	return out
}

// mocked finds stand-ins for what an old test's assertions call.
func mocked(f *file, m *pairing) []Hit {
	if !isTest(f.new.path) || f.old.path == "" {
		return nil
	}
	fresh := standIns(f)
	for _, a := range m.after {
		b := m.was[a]
		if len(fresh) == 0 || a.f != f || b == nil {
			continue
		}
		looked := map[string]bool{}
		for _, c := range claims(b) {
			for _, name := range calls([]string{c.text}) {
				looked[name] = true
			}
		}
		for _, l := range fresh {
			if l.line <= a.stop && slices.ContainsFunc(identifier.FindAllString(l.text, -1), func(name string) bool { return looked[name] }) {
				return []Hit{{Test, f.path(), l.line, "", l.text, "A stand-in takes the place of what an old test's assertions call."}}
			}
		}
	}
	return nil
}

var (
	pythonDef     = regexp.MustCompile(`^(\s*)(?:async )?def (test\w*)\(`)
	abstractClass = regexp.MustCompile(`^\s*(?:public |internal )?abstract class (\w+)`)
	surefireName  = regexp.MustCompile(`(?:^|/)(?:Test[^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|groovy)$`)
)

// uncounted finds tests that are passed over where they stand: in a class that became
// abstract, or in Python before another one of the same name.
func uncounted(f *file) []Hit {
	if f.old.path == "" || f.new.path == "" || !isTest(f.new.path) {
		return nil
	}
	lang := languageOf(f.new.path)
	if lang == java || lang == csharp {
		for i := range f.new.lines {
			c := abstractClass.FindStringSubmatch(f.new.at(i + 1))
			if c != nil && slices.ContainsFunc(f.old.lines, func(l string) bool {
				return !strings.Contains(l, "abstract") && strings.Contains(l+" ", "class "+c[1]+" ")
			}) {
				return []Hit{{Test, f.path(), i + 1, "", f.new.at(i + 1), "The tests of an abstract class are not run."}}
			}
		}
	}
	if lang != python {
		return nil
	}
	double := func(s side) map[string]int {
		out, seen, class := map[string]int{}, map[string]bool{}, ""
		for i, line := range s.lines {
			if c := pythonClass.FindStringSubmatch(line); c != nil {
				class = c[1]
			}
			if d := pythonDef.FindStringSubmatch(line); d != nil {
				if d[1] == "" {
					class = ""
				}
				if id := class + "." + d[2]; seen[id] {
					out[id] = i + 1
				} else {
					seen[id] = true
				}
			}
		}
		return out
	}
	was := double(f.old)
	for id, line := range double(f.new) {
		if was[id] == 0 {
			return []Hit{{Test, f.path(), line, "", f.new.at(line), "Another test of this name stands before it and is no longer run."}}
		}
	}
	return nil
}

// aware are the ways in which code learns that it is being tested.
var aware = regexp.MustCompile(`\btesting\.Testing\(\)|flag\.Lookup\("test\.|PYTEST_CURRENT_TEST|["']pytest["'] in sys\.modules|JEST_WORKER_ID|process\.env\.VITEST\b|import\.meta\.vitest|\bcfg!\(test\)`)

// knowing finds code that came to behave otherwise while it is tested.
func knowing(f *file) []Hit {
	if languageOf(f.new.path) == "" || isTest(f.new.path) && languageOf(f.new.path) != rust || len(toolsOf(f.new.path)) > 0 {
		return nil
	}
	had := map[string]bool{}
	for i := range f.old.lines {
		had[f.old.at(i+1)] = true
	}
	for i := range f.new.lines {
		text := f.new.at(i + 1)
		if at := aware.FindStringIndex(text); at != nil && !had[text] && !messages.MatchString(text) && !quotedCode(text, at[0]) {
			return []Hit{{Assertion, f.path(), i + 1, "", text, "The code behaves otherwise while it is tested."}}
		}
	}
	return nil
}

// quotedCode reports whether a position lies in a string that is no name being looked
// up.
func quotedCode(text string, at int) bool {
	return quoted(text, at) && !strings.Contains(text, "environ") && !strings.Contains(text, "getenv") && !strings.Contains(text, "sys.modules")
}
