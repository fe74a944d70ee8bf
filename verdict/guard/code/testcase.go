package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// annotated reports whether an annotation in a unit's head makes it a test.
func annotated(u *unit) bool {
	if u.word == "class" || u.word == "mod" || u.word == "record" || u.word == "object" {
		return false
	}
	return among(u.from, u.at, u.side.marksTest)
}

// marksTest reports whether a word is an annotation that makes a test of what it is before.
func (s *side) marksTest(i int) bool {
	name := s.of(i)
	own := strings.HasSuffix(name, "Fact") || strings.HasSuffix(name, "Theory") || // a runner's extension
		s.lang.name == "C#" && (strings.HasPrefix(name, "Fact") || strings.HasPrefix(name, "Theory")) ||
		s.tests && (strings.HasSuffix(name, "Test") || strings.HasPrefix(name, "TestWith") || strings.HasSuffix(name, "Template"))
	return (testMarks[name] || own || s.lang.rust && strings.HasSuffix(name, "test")) && s.annotation(i)
}

// annotation reports whether a word names an annotation: @Test, [Fact], #[tokio::test].
func (s *source) annotation(i int) bool {
	for s.kindOf(i-2) == word && (s.of(i-1) == "." || s.of(i-1) == "::") {
		i -= 2
	}
	switch before := s.of(i - 1); before {
	case "@":
		return true
	case "[", ",":
		open := int(s.outer[i])
		return open >= 0 && s.of(open) == "[" && (s.lang.name == "C#" || attributing[s.of(open-1)])
	case ":":
		return s.of(i-3) == "@" // @field:Test
	default:
		return false
	}
}

// attributing is what stands before brackets with annotations, but in C#: #[test], #![cfg(test)], @[Test Ignore]. Behind
// anything else, they have a list.
var attributing = set("# ! @")

// named returns a function that reports whether a function in a test file is a test because of its name's
// prefix or an annotation. In Python a class around it must be one that runners collect.
func named(prefix string) func(*unit) bool {
	return func(u *unit) bool {
		return u.word != "class" && u.word != "module" && u.side.tests && u.role == definition &&
			(strings.HasPrefix(u.name, prefix) || annotated(u) || u.side.lang.name == "PHP" && u.side.noted(u)) &&
			(u.parent == nil || !u.side.lang.python || u.parent.word == "class" && u.side.collected(u.parent))
	}
}

// noted reports whether the comment before a function makes it a test for PHPUnit.
func (s *side) noted(u *unit) bool {
	n, _ := slices.BinarySearchFunc(s.notes, u.from, func(n note, from int) int { return cmp.Compare(n.next, from) })
	for ; n < len(s.notes) && s.notes[n].next == u.from; n++ {
		if testTag.MatchString(s.text[s.notes[n].from:s.notes[n].to]) {
			return true
		}
	}
	return false
}

// testTag matches PHPUnit's "@test" in a comment.
var testTag = regexp.MustCompile(`@test\b`)

// setsUp reports whether a function of a test file runs before tests.
func (u *unit) setsUp() bool {
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }
	marked := func(i int) bool {
		return setUps[plain(u.side.of(i))] && u.side.annotation(i) || u.side.lang.python && u.side.of(i) == "autouse" && u.side.of(i+2) == "True"
	}
	return u.role == definition && u.side.tests && (u.word != "class" && setUps[plain(u.name)] ||
		u.side.lang.name == "C" && strings.HasSuffix(u.name, "__initialize") || among(u.from, u.at, marked))
}

// inherits reports whether a class of a test file has no test of its own. It may run what it inherits.
func (u *unit) inherits() bool {
	return u.role == definition && u.side.tests && (u.word == "class" || u.word == "object" || u.word == "struct")
}

// overrides reports whether a function replaces an inherited one.
func (u *unit) overrides() bool {
	return containsWord(u.side, u.from, u.at, "override") || containsWord(u.side, u.from, u.at, "Override")
}

// plainC reports whether a function of C is a test by its name and its parameters, as clar, cmocka and Unity take it:
// void test_pay(void).
func plainC(u *unit) bool {
	return u.side.tests && u.word == "method" && strings.HasPrefix(u.name, "test_") && u.side.of(u.at-1) == "void" &&
		!u.setsUp() && !strings.HasSuffix(u.name, "__cleanup") && noParameters.MatchString(u.side.arguments(u.at+1))
}

// noParameters matches those of such a test: none, or the state of cmocka.
var noParameters = regexp.MustCompile(`^$|^void$|^void \* \*`)

// collected reports whether pytest or unittest run the methods of a class, or of a class that inherits from
// it in the same file.
func (s *side) collected(class *unit) bool {
	extended := func(u *unit) bool {
		return u.word == "class" && u != class && strings.HasPrefix(u.name, "Test") && containsWord(s, u.at+1, u.body, class.name)
	}
	return strings.Contains(s.plain(class.at+1, class.body), "Test") ||
		!class.made && (strings.Contains(class.name, "Test") || slices.ContainsFunc(s.units, extended)) // pytest takes no class that is made
}

func containsWord(s *side, from, to int, name string) bool {
	return among(from, to, func(i int) bool { return s.of(i) == name })
}

// among reports whether one of the tokens from one up to another is such a one.
func among(from, to int, is func(i int) bool) bool {
	for i := from; i < to; i++ {
		if is(i) {
			return true
		}
	}
	return false
}
