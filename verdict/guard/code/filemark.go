package code

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// fileForms are the words outside of the heads of tests that mark all tests of a file, or those of a unit.
var fileForms = byWord(map[string][]form{
	"Python": {
		{words: "pytestmark", when: unindented, read: func(s *side, i int) { s.valueMarks(&s.marks, i) }}, // pytestmark = pytest.mark.skip
		{words: "*", when: uncollected, effect: skips, cond: (*side).lineOf},
		{words: vocabulary.Text("conftest"), when: inConftest, effect: skips, cond: (*side).lineOf},
		{words: "exitstatus returncode", after: "=", when: inConftest, effect: skips, cond: (*side).lineOf},
		{words: "markexpr keyword", before: "option .", when: inConftest, effect: skips, cond: (*side).lineOf},
		{words: "add_marker", when: ofSkip, effect: skips, cond: (*side).lineOf}, // a hook of conftest.py adds it to any test
		{words: "allow_module_level", effect: skips, cond: around},               // pytest.skip outside of a test needs this option
		{words: "__test__", after: "= False", effect: skips, unit: true},
		{words: "__unittest_skip__", after: "= True", effect: skips, unit: true},
		{words: "skip", after: "=", when: inTests, read: (*side).trialMark},
	},
	"JavaScript": {
		// Playwright: test.skip(condition, "…"). With a title first it is a test.
		{words: "skip fixme", after: "(", when: untitled, effect: skips, cond: callArguments, unit: true},
		{words: "retries", after: ":", when: configured, effect: retry}, // test.describe.configure({ retries: 2 })
		{words: "retryTimes", before: "jest .", effect: retry},
	},
	"Rust": {{words: "cfg", before: "! _", after: "(", effect: skips, cond: callArguments}}, // #![cfg(…)] is of the whole file
	"Elixir": {
		{words: "tag describetag moduletag", before: "@", read: (*side).tags},
		{words: "exclude at_exit", when: inHelper, effect: skips, cond: (*side).lineOf}, // ExUnit.configure(exclude: …) in test_helper.exs
	},
	"Scala": {{words: "skipAll skipAllIf", when: begins, effect: skips, cond: skipAll}}, // specs2
	"Ruby": {
		{words: "filter_run_excluding", effect: skips, cond: (*side).lineOf}, // RSpec.configure
		{words: "filter_run filter_run_including exclude_pattern failure_exit_code error_exit_code", when: inHelper, effect: skips,
			cond: (*side).lineOf},
		{words: "default_retry_count", effect: retry}, // rspec-retry
	},
	"C#":     {{words: "*", before: "assembly :", when: disabling, effect: skips}}, // [assembly: Ignore("…")]
	"Kotlin": {{words: "*", before: "file :", when: disabling, effect: skips}},     // @file:Ignore
	"Dart": { // an annotation of package:test outside of all brackets is of the library
		{words: "Skip", before: "@", after: "(", when: outside, effect: skips},
		{words: "Retry", before: "@", after: "(", when: outside, effect: retry},
		{words: "TestOn", before: "@", after: "(", when: outside, effect: skips, cond: annotationText},
		{words: "OnPlatform", before: "@", after: "(", when: skipsSome, effect: skips, cond: annotationText},
	},
})

// What the tokens around a word do not tell.
var (
	unindented  = func(s *side, i int) bool { return s.tokens[i].column == 0 }
	uncollected = func(s *side, i int) bool { return unindented(s, i) && strings.HasPrefix(s.of(i), "collect_ignore") }
	ofSkip      = func(s *side, i int) bool { return strings.Contains(s.lineOf(i), "skip") }
	inTests     = func(s *side, i int) bool { return s.tests }
	untitled    = func(s *side, i int) bool { return s.of(i-1) == "." && s.lang.calls[s.of(i-2)] && s.kindOf(i+2) != text }
	configured  = func(s *side, i int) bool { return s.outer[i] > 1 && s.of(int(s.outer[i])-2) == "configure" }
	inConftest  = func(s *side, i int) bool { return path.Base(s.path) == "conftest.py" && !s.sorts(i) }
	inHelper    = func(s *side, i int) bool { return strings.Contains(path.Base(s.path), "_helper.") }
	begins      = func(s *side, i int) bool { return s.tokens[i].first }
	disabling   = func(s *side, i int) bool { return annotations[strings.ToLower(s.of(i))] == skips }
	outside     = func(s *side, i int) bool { return s.outer[i] < 0 }
	skipsSome   = func(s *side, i int) bool { return outside(s, i) && strings.Contains(annotationText(s, i), "Skip (") }
)

// maxHook bounds the tokens of a hook that are read.
const maxHook = 2000

// sorts reports whether a word is the name of a hook that takes none of the tests away.
func (s *side) sorts(i int) bool {
	if s.of(i) != "pytest_collection_modifyitems" {
		return false
	}
	end := i + 1
	for end < min(len(s.tokens), i+maxHook) && s.tokens[end].column > 0 {
		end++
	}
	return !among(i, end, func(j int) bool {
		return slices.Contains([]string{"clear", "remove", "pop", "del", "deselected", "pytest_deselected"}, s.of(j)) ||
			s.of(j) == "[" && s.of(j+1) == ":" && s.of(j+3) == "="
	})
}

// The conditions of marks.
var (
	around         = func(s *side, i int) string { return s.under(i, 0) }
	callArguments  = func(s *side, i int) string { return s.arguments(i + 1) }
	annotationText = func(s *side, i int) string { return s.plain(i, s.mate(i+1)) }
	skipAll        = func(s *side, i int) string { return strings.TrimPrefix(s.lineOf(i), "skipAll") }
)

// markFile reads the marks that apply to all tests of a file, and the marks that are outside a test's head.
func (s *side) markFile() {
	switch s.lang.name {
	case "Go":
		if on := systems(s.path, []byte(s.text)); on != allSystems {
			s.marks = append(s.marks, mark{effect: built, cond: strconv.Itoa(int(on)), line: 1})
		}
	case "PHP":
		s.required()
	}
	for i := range s.tokens {
		if s.kindOf(i) != word {
			continue
		}
		switch f := s.formOf(fileForms, i); {
		case f == nil:
		case f.read != nil:
			f.read(s, i)
		case !f.unit || s.unitAt(i) == nil:
			s.add(&s.marks, f.effect, f.condition(s, i), i)
		default: // a test would have it in its head or body
			if u := s.unitAt(i); u.role == group || u.inherits() {
				s.add(&u.marks, f.effect, f.condition(s, i), i)
			}
		}
	}
}

// maxFixtures bounds the units of a file that are compared with each class that skips.
const maxFixtures = 2000

// setUpMarks adds the skips of a function that runs before tests to what is around it and the tests: in C++, where tests only
// name the class, to those tests and to those of the classes that inherit from it.
func (s *side) setUpMarks(u *unit) {
	to := []*[]mark{&s.marks}
	switch p := u.parent; {
	case p == nil:
	case s.lang.name != "C" || p.role == group:
		to[0] = &p.marks
	case (p.word == "class" || p.word == "struct") && len(s.units) < maxFixtures:
		to = nil
		of := map[string]bool{p.name: true}
		for _, other := range s.units {
			switch fixture, _, _ := strings.Cut(other.name, " "); {
			case other.word == p.word && !of[other.name]:
				of[other.name] = among(other.at, other.body, func(i int) bool { return of[s.of(i)] })
			case other.role == test && of[fixture]:
				to = append(to, &other.marks)
			}
		}
		if len(to) == 0 { // the tests may name it otherwise
			to = append(to, &s.marks)
		}
	}
	returned, unless := sync.OnceValue(u.returned), sync.OnceValue(u.unlessReturned)
	for _, m := range u.skips() {
		if m.cond == "" && returned() <= m.at {
			m.cond = unless()
		}
		for _, list := range to {
			s.add(list, skips, m.cond, m.at)
		}
	}
}

// trialMark adds what an attribute of Twisted's trial says of a class or a test: test_pay.skip = "…".
func (s *side) trialMark(i int) {
	for _, u := range s.units {
		switch {
		case s.of(i-1) == "." && u.role == test && u.name == s.of(i-2), s.tokens[i].first && u == s.unitAt(i) && u.role == group:
			s.add(&u.marks, skips, "", i)
		}
	}
}

// tags adds Elixir's "@tag :skip" to the next test, "@describetag :skip" to the group around it, and "@moduletag :skip" to all.
// There may be several: @tag slow: 5, skip: "later".
func (s *side) tags(i int) {
	to := &s.marks
	if s.of(i) != "moduletag" {
		next := slices.IndexFunc(s.units, func(u *unit) bool { return u.from > i })
		if next < 0 {
			return
		}
		u := s.units[next]
		if s.of(i) == "describetag" && u.parent != nil {
			u = u.parent
		}
		to = &u.marks
	}
	n := i + 1
	if s.of(n) == "[" {
		n++
	}
	for begin := n; n < len(s.tokens) && (n == begin || s.of(n-1) == ","); {
		at, end := n, n+1
		for end < len(s.tokens) && s.of(end) != "," && s.outer[end] >= s.outer[at] && (!s.tokens[end].first || s.of(end-1) == ":") {
			end = max(end, s.mate(end)) + 1
		}
		s.tag(to, at, end)
		n = end + 1
	}
}

// tag adds what one tag says of a test, as ":skip" or "skip: value".
func (s *side) tag(to *[]mark, at, end int) {
	name, value := s.of(at), s.of(at+2)
	if name == ":" {
		name, value = s.of(at+1), "true"
	}
	switch {
	case name != "skip":
		s.add(to, tag, name, at)
	case value == "false" || value == "nil":
	case value == "true" || value == ":" || s.kindOf(at+2) == text:
		s.add(to, skips, "", at)
	default:
		s.add(to, skips, "if "+s.plain(at+2, end), at)
	}
}

// requirements are the attributes of PHPUnit that say what "@requires" with a word says.
var requirements = map[string]string{"OS": "RequiresOperatingSystem", "OSFAMILY": "RequiresOperatingSystemFamily", "PHP": "RequiresPhp",
	"PHPUnit": "RequiresPhpunit", "extension": "RequiresPhpExtension", "function": "RequiresFunction", "setting": "RequiresSetting"}

// grouped matches what a comment says of when PHPUnit runs a test.
var grouped = regexp.MustCompile(`@(?:group|depends)\s+\S+`)

// required adds what comments for PHPUnit require, or for Codeception leave out, to the test or class that the comment precedes.
func (s *side) required() {
	begins := map[int]*unit{}
	for _, u := range slices.Backward(s.units) {
		begins[u.from] = u
	}
	for _, n := range s.notes {
		u, comment := begins[n.next], s.text[n.from:n.to]
		if u == nil {
			continue
		}
		if strings.Contains(comment, "@skip ") || strings.Contains(comment, "@incomplete ") {
			s.add(&u.marks, skips, "", n.next)
		} else if found := grouped.FindString(comment); found != "" && u.role == test {
			s.add(&u.marks, tag, found, n.next)
		} else if _, what, is := strings.Cut(comment, "@requires "); is {
			what, _, _ = strings.Cut(what, "\n")
			kind, value, _ := strings.Cut(strings.TrimRight(what, " */\r"), " ")
			s.add(&u.marks, skips, cmp.Or(requirements[kind], "@requires "+kind)+` "`+value+`"`, n.next)
		}
	}
}

// namedMarks reads what a file names before its tests: server = pytest.mark.skipif(…), as in "@server".
func (s *side) namedMarks(u *unit, i int) {
	if s.names == nil {
		s.names = map[string]int{}
		for n := range s.tokens {
			if s.kindOf(n) == word && s.tokens[n].column == 0 && s.of(n+1) == "=" {
				s.names[s.of(n)] = n
			}
		}
	}
	if n, named := s.names[s.of(i)]; named && s.of(i-1) == "@" {
		var all []mark
		s.valueMarks(&all, n)
		for _, m := range all {
			if m.effect == skips || m.effect == fails {
				s.add(&u.marks, m.effect, m.cond, i)
			}
		}
	}
}

// valueMarks reads the marks in the value that is given to a name.
func (s *side) valueMarks(to *[]mark, i int) {
	last := i + 1
	for last < min(len(s.tokens), i+maxHead) && !(s.tokens[last].first && s.outer[last] < 0) {
		last++
	}
	for n := i; n < last; n++ {
		if s.of(n-1) != "." || s.of(n-2) != "mark" && s.of(n-2) != "unittest" {
			continue
		}
		switch name := strings.ToLower(s.of(n)); {
		case annotations[name] != "":
			s.add(to, annotations[name], "", n)
		case annotations[name+"?"] != "":
			cond := s.plain(n, last)
			if s.of(n+1) == "(" {
				cond, _, _ = strings.Cut(s.of(n)+" "+s.arguments(n+1), " , reason")
			}
			s.add(to, skips, cond, n)
		case !usualMarks[name]:
			s.add(to, tag, name, n)
		}
	}
}

// unitAt is the innermost unit around a token, nil for none.
func (s *side) unitAt(i int) *unit {
	n, _ := slices.BinarySearchFunc(s.units, i+1, func(u *unit, from int) int { return cmp.Compare(u.from, from) })
	if n == 0 {
		return nil
	}
	u := s.units[n-1]
	for u != nil && u.to <= i {
		u = u.parent
	}
	return u
}
