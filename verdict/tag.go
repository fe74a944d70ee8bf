package verdict

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// FindingTag is how a comment names its finding.
func FindingTag(id string) string { return "finding `" + id + "`" }

var taggedFinding = lazyregexp.New("\\A\\*\\*\\[[A-Za-z-]+\\] [a-z]+\\*\\*(?: · `[^`\n]*`)? · finding `([0-9a-f]{8})`")

// TaggedFinding is the id of the finding that a comment describes from its beginning. Result ok is false for
// any other text.
func TaggedFinding(comment string) (id string, ok bool) {
	m := taggedFinding.FindStringSubmatch(comment)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// folded matches what a review hides or folds away: records, marks and details.
var folded = lazyregexp.New(`(?s)<!--.*?-->|<details>.*?</details>|<sub>.*?</sub>`)

// Plain is the visible text of a reviewer's comment or review, without what is hidden or folded away.
func Plain(text string) string { return strings.TrimSpace(folded.ReplaceAllString(text, "")) }

// Raised are the descriptions of the findings in a reviewer's text, by id. A comment on a line describes one;
// the body of a review describes those without a line.
func Raised(text string) map[string]string {
	all := map[string]string{}
	for block := range strings.SplitSeq(Plain(text), "\n---\n") {
		if id, ok := TaggedFinding(block); ok {
			all[id] = block
			continue
		}
		// The first paragraph says where the finding is.
		_, described, _ := strings.Cut(block, "\n\n")
		if id, ok := TaggedFinding(described); ok {
			all[id] = described
		}
	}
	return all
}
