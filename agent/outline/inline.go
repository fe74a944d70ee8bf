package outline

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// testModule is how a module of tests begins in Rust, which stands in the file that it tests
// (https://doc.rust-lang.org/book/ch11-03-test-organization.html).
var testModule = lazyregexp.New(`^(?:pub(?:\([a-z]+\))?\s+)?mod\s+(?:\w+_)?tests?\s*\{`)

// InlineTests are the lines of a module of tests within a file, which count from 0: from first
// up to, and without, last. There is none where both are 0.
func InlineTests(name string, lines []string) (first, last int) {
	if !strings.HasSuffix(name, ".rs") {
		return 0, 0
	}
	for i, line := range lines {
		if !testModule.MatchString(line) {
			continue
		}
		for end := i; end < len(lines); end++ {
			if strings.HasPrefix(lines[end], "}") {
				return i, end + 1
			}
		}
		return i, len(lines)
	}
	return 0, 0
}
