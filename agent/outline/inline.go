package outline

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// testModule matches the beginning of a test module in Rust, which is in the file that it tests
// (https://doc.rust-lang.org/book/ch11-03-test-organization.html).
var testModule = lazyregexp.New(`^(?:pub(?:\([a-z]+\))?\s+)?mod\s+(?:\w+_)?tests?\s*\{`)

// InlineTests returns the lines of a test module within a file, which count from 0: from first up to but
// excluding last. Both are 0 if there is none.
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
