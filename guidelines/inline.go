package guidelines

import (
	"bytes"

	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

var (
	// testModule is how a module of tests begins in Rust, as its own line or as what git shows
	// of the lines above a hunk; testFunction is the mark of a test anywhere else.
	testModule   = lazyregexp.New(`^(?:pub(?:\([a-z]+\))?\s+)?mod\s+\w*tests?\w*\s*\{|^#\[cfg\((?:all\()?test\b`)
	testFunction = lazyregexp.New(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|bench)\b`)
)

// inlineTests tells whether the changed lines of a file of Rust are of its tests, which stand
// in a module at its end (https://doc.rust-lang.org/book/ch11-03-test-organization.html), and
// whether they are of others.
func inlineTests(file File) (tests, others bool) {
	others = file.Truncated
	within := false
	for l := range diff.Lines(file.Patch) {
		text := l.Text()
		switch {
		case l.Sign == '@':
			within = testModule.Match(heading(text))
			continue
		case testModule.Match(text):
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

// heading is what stands behind the ranges of a hunk.
func heading(line []byte) []byte {
	if _, after, ok := bytes.Cut(line, []byte(" @@ ")); ok {
		return after
	}
	return nil
}
