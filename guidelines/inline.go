package guidelines

import (
	"bytes"

	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

var (
	testModule   = lazyregexp.New(`^(?:pub(?:\([a-z]+\))?\s+)?mod\s+(?:\w+_)?tests?(?:_\w+)?\s*\{`)
	onlyInTests  = lazyregexp.New(`^#\[cfg\((?:all\()?test\b`)
	testFunction = lazyregexp.New(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|bench)\b`)
)

// BeginsTestModule reports whether a line of a Rust file begins a module of tests, by the module's name: tests
// are in a module at the end of the file that they test
// (https://doc.rust-lang.org/book/ch11-03-test-organization.html).
func BeginsTestModule(line []byte) bool { return testModule.Match(line) }

// beginsTests also knows the attribute in front of such a module. The line may be the heading that git shows
// for a hunk.
func beginsTests(line []byte) bool { return BeginsTestModule(line) || onlyInTests.Match(line) }

// inlineTests reports whether the changed lines of a Rust file include lines of its tests, and whether they
// include others. A test outside a module of tests has an attribute.
func inlineTests(file File) (tests, others bool) {
	others = file.Truncated
	within := false
	for l := range diff.Lines(file.Patch) {
		text := l.Text()
		switch {
		case l.Sign == '@':
			within = beginsTests(heading(text))
			continue
		case beginsTests(text):
			within = true
		}
		if l.Sign == '+' || l.Sign == '-' {
			if within || testFunction.Match(text) {
				tests = true
			} else if len(bytes.TrimSpace(text)) > 0 {
				others = true
			}
		}
		if within && bytes.HasPrefix(text, []byte("}")) {
			within = false
		}
	}
	return tests, others
}

// heading returns the text after the ranges of a hunk.
func heading(line []byte) []byte {
	if _, after, ok := bytes.Cut(line, []byte(" @@ ")); ok {
		return after
	}
	return nil
}
