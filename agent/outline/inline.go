package outline

import (
	"strings"

	"touchstone/guidelines"
)

// InlineTests returns the lines of a test module within a file of Rust, which count from 0: from first up to but
// excluding last. Both are 0 if there is none.
func InlineTests(name string, lines []string) (first, last int) {
	if !strings.HasSuffix(name, ".rs") {
		return 0, 0
	}
	for i, line := range lines {
		if !guidelines.BeginsTestModule([]byte(line)) {
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
