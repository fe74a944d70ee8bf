package code

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// markFile reads the marks that apply to all tests of a file, and the marks that are outside a test's head.
func (s *side) markFile() {
	if on := systems(s.path, []byte(s.text)); s.lang.name == "Go" && on != allSystems {
		s.marks = append(s.marks, mark{built, strconv.Itoa(int(on)), 1})
	}
	if s.lang.name == "PHP" {
		s.required()
	}
	for i, t := range s.tokens {
		if t.kind != word {
			continue
		}
		name, cond, e := s.of(i), "", skips
		switch {
		case s.lang.python && name == "pytestmark" && t.column == 0:
			s.moduleMarks(i)
			continue
		case s.lang.python && strings.HasPrefix(name, "collect_ignore") && t.column == 0,
			s.lang.python && name == "add_marker" && strings.Contains(s.lineOf(i), "skip"):
			cond = s.lineOf(i)
		case s.lang.python && name == "allow_module_level":
			if around := s.conditionsAt(i, 0); len(around) > 0 {
				cond = around[0].text
			}
		case s.lang.python && name == "__test__" && s.of(i+1) == "=" && s.of(i+2) == "False",
			s.lang.name == "JavaScript" && (name == "skip" || name == "fixme") && s.of(i-1) == "." && s.lang.calls[s.of(i-2)] &&
				s.of(i+1) == "(" && s.kindOf(i+2) != text: // Playwright: test.skip(condition, "…")
			if s.lang.name == "JavaScript" {
				cond = s.arguments(i + 1)
			}
			if u := s.unitAt(i); u == nil {
				s.add(&s.marks, skips, cond, i)
			} else if u.role == group || u.inherits() {
				s.add(&u.marks, skips, cond, i)
			}
			continue
		case s.lang.rust && name == "cfg" && s.of(i-2) == "!" && s.of(i+1) == "(":
			cond = s.arguments(i + 1)
		case s.lang.name == "Elixir" && name == "moduletag":
			if s.of(i+1) != "skip" && s.of(i+2) != "skip" {
				e, cond = tag, s.lineOf(i)
			}
		case s.lang.name == "Scala" && (name == "skipAll" || name == "skipAllIf") && s.tokens[i].first:
			cond = strings.TrimPrefix(s.lineOf(i), "skipAll")
		case s.lang.ruby && name == "filter_run_excluding", strings.HasSuffix(s.path, "_helper.exs") && name == "exclude":
			cond = s.lineOf(i)
		case s.lang.ruby && name == "default_retry_count":
			e = retry
		case s.lang.python && name == "skip" && s.of(i+1) == "=" && s.tests: // of Twisted's trial
			s.trialMark(i)
			continue
		case s.lang.name == "JavaScript" && name == "retries" && s.of(i+1) == ":" && s.outer[i] > 1 && s.of(int(s.outer[i])-2) == "configure":
			e = retry
		case s.lang.name == "Kotlin" && s.of(i-1) == ":" && s.of(i-2) == "file" && annotations[strings.ToLower(name)] == skips:
		case s.lang.name == "Dart" && s.of(i-1) == "@" && s.outer[i] < 0 && s.of(i+1) == "(":
			cond = s.plain(i, int(s.tokens[i+1].mate))
			switch {
			case name == "Skip":
				cond = ""
			case name == "Retry":
				e, cond = retry, ""
			case name != "TestOn" && (name != "OnPlatform" || !strings.Contains(cond, "Skip (")):
				continue
			}
		case s.lang.name == "JavaScript" && name == "retryTimes" && s.of(i-1) == "." && s.of(i-2) == "jest":
			e = retry
		case s.lang.name == "Elixir" && (name == "tag" || name == "describetag") && s.of(i-1) == "@":
			s.tagUnit(i)
			continue
		default:
			continue
		}
		s.add(&s.marks, e, cond, i)
	}
}

// setUpMarks adds the skips of a function that runs before tests to what is around it and the tests.
func (s *side) setUpMarks(u *unit) {
	to := &s.marks
	if u.parent != nil && (s.lang.name != "C" || u.parent.role == group) {
		to = &u.parent.marks
	}
	s.bodyMarks(u, func(e effect, cond string, i int) {
		if e == skips {
			s.add(to, e, cond, i)
		}
	})
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

// tagUnit adds Elixir's "@tag :skip" to the next test, and "@describetag :skip" to the group around it.
func (s *side) tagUnit(i int) {
	next := slices.IndexFunc(s.units, func(u *unit) bool { return u.from > i })
	if next < 0 {
		return
	}
	u := s.units[next]
	if s.of(i) == "describetag" && u.parent != nil {
		u = u.parent
	}
	if name := s.of(i + 1); name == "skip" || s.of(i+2) == "skip" {
		s.add(&u.marks, skips, "", i)
	} else {
		s.add(&u.marks, tag, name+s.of(i+2), i)
	}
}

// requirements are the attributes of PHPUnit that say what "@requires" with a word says.
var requirements = map[string]string{"OS": "RequiresOperatingSystem", "OSFAMILY": "RequiresOperatingSystemFamily", "PHP": "RequiresPhp",
	"PHPUnit": "RequiresPhpunit", "extension": "RequiresPhpExtension", "function": "RequiresFunction", "setting": "RequiresSetting"}

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
		} else if _, what, is := strings.Cut(comment, "@requires "); is {
			what, _, _ = strings.Cut(what, "\n")
			kind, value, _ := strings.Cut(strings.TrimRight(what, " */\r"), " ")
			s.add(&u.marks, skips, cmp.Or(requirements[kind], "@requires "+kind)+` "`+value+`"`, n.next)
		}
	}
}

// moduleMarks reads "pytestmark = pytest.mark.skip".
func (s *side) moduleMarks(i int) {
	last := i + 1
	for last < min(len(s.tokens), i+maxHead) && !(s.tokens[last].first && s.outer[last] < 0) {
		last++
	}
	for n := i; n < last; n++ {
		if s.of(n-1) != "." || s.of(n-2) != "mark" {
			continue
		}
		switch name := s.of(n); {
		case annotations[name] != "":
			s.add(&s.marks, annotations[name], "", n)
		case annotations[name+"?"] != "":
			s.add(&s.marks, skips, s.plain(n, last), n)
		case !usualMarks[name]:
			s.add(&s.marks, tag, name, n)
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
