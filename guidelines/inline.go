package guidelines

import (
	"bytes"

	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

var (
	// testModule matches the beginning of a test module in Rust, on its own line or in the heading that git
	// shows for a hunk; testFunction matches the attribute of a test anywhere else.
	testModule   = lazyregexp.New(`^(?:pub(?:\([a-z]+\))?\s+)?mod\s+\w*tests?\w*\s*\{|^#\[cfg\((?:all\()?test\b`)
	testFunction = lazyregexp.New(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|bench)\b`)
)

// inlineTests reports whether the changed lines of a Rust file include lines of its tests, which are in a
// module at its end (https://doc.rust-lang.org/book/ch11-03-test-organization.html), and whether they include
// others.
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

// heading returns the text after the ranges of a hunk.
func heading(line []byte) []byte {
	if _, after, ok := bytes.Cut(line, []byte(" @@ ")); ok {
		return after
	}
	return nil
}
