package code

import "strings"

// testMarks are the annotations that mark tests for runners.
var testMarks = set("Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Example RetryingTest CartesianTest " +
	"Fact Theory SkippableFact SkippableTheory TestCase TestCaseSource TestMethod DataTestMethod " +
	"test rstest test_case quickcheck wasm_bindgen_test apply")

// annotated reports whether an annotation in a unit's head makes it a test.
func annotated(u *unit) bool {
	if u.word == "class" || u.word == "mod" || u.word == "record" || u.word == "object" {
		return false
	}
	for i := u.from; i < u.at; i++ {
		name := u.side.of(i)
		own := strings.HasSuffix(name, "Fact") || strings.HasSuffix(name, "Theory") || // a runner's extension
			u.side.lang.name == "C#" && (strings.HasPrefix(name, "Fact") || strings.HasPrefix(name, "Theory")) ||
			u.side.tests && (strings.HasSuffix(name, "Test") || strings.HasSuffix(name, "Template"))
		if (testMarks[name] || own || u.side.lang.rust && strings.HasSuffix(name, "test")) && u.side.annotation(i) {
			return true
		}
	}
	return false
}

// annotation reports whether a word names an annotation: @Test, [Fact], #[tokio::test].
func (s *source) annotation(i int) bool {
	for s.kindOf(i-2) == word && (s.of(i-1) == "." || s.of(i-1) == "::") {
		i -= 2
	}
	switch before := s.of(i - 1); before {
	case "@", "[":
		return true
	case ",":
		return s.outer[i] >= 0 && s.of(int(s.outer[i])) == "["
	case ":":
		return s.of(i-3) == "@" // @field:Test
	default:
		return false
	}
}

// named returns a function that reports whether a function in a test file is a test because of its name's
// prefix or an annotation. In Python a class around it must be one that runners collect.
func named(prefix string) func(*unit) bool {
	return func(u *unit) bool {
		if u.word == "class" || u.word == "module" || !u.side.tests || u.role != definition {
			return false
		}
		marked := annotated(u)
		if !strings.HasPrefix(u.name, prefix) && !marked {
			return false
		}
		if u.parent == nil || u.side.lang.name != "Python" {
			return true
		}
		return u.parent.word == "class" && u.side.collected(u.parent)
	}
}

// collected reports whether pytest or unittest run the methods of a class, or of a class that inherits from
// it in the same file.
func (s *side) collected(class *unit) bool {
	if strings.Contains(class.name, "Test") || strings.Contains(s.plain(class.at+1, class.body), "Test") {
		return true
	}
	for _, u := range s.units {
		if u.word == "class" && u != class && strings.HasPrefix(u.name, "Test") && containsWord(s, u.at+1, u.body, class.name) {
			return true
		}
	}
	return false
}

func containsWord(s *side, from, to int, name string) bool {
	for i := from; i < to; i++ {
		if s.of(i) == name {
			return true
		}
	}
	return false
}
