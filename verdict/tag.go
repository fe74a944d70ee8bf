package verdict

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// FindingTag is how a comment names the finding that it is about.
func FindingTag(id string) string { return "finding `" + id + "`" }

var taggedFinding = lazyregexp.New("\\A\\*\\*\\[[A-Za-z-]+\\] [a-z]+\\*\\*(?: · `[^`\n]*`)? · finding `([0-9a-f]{8})`")

// TaggedFinding is the id of the finding that a comment tells of from its beginning; ok is
// false for any other text.
func TaggedFinding(comment string) (id string, ok bool) {
	m := taggedFinding.FindStringSubmatch(comment)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// folded is what a review holds besides what it says: records, marks, and what is folded away.
var folded = lazyregexp.New(`(?s)<!--.*?-->|<details>.*?</details>|<sub>.*?</sub>`)

// Plain is what a text of the reviewer's says, without what is hidden or folded away in it.
func Plain(text string) string { return strings.TrimSpace(folded.ReplaceAllString(text, "")) }

// Raised are the findings that a text of the reviewer's tells of, by id, each as it was
// described: a comment on a line tells of one, the body of a review of those without a line.
func Raised(text string) map[string]string {
	all := map[string]string{}
	for block := range strings.SplitSeq(Plain(text), "\n---\n") {
		if id, ok := TaggedFinding(block); ok {
			all[id] = block
			continue
		}
		// Its place stands above it.
		_, described, _ := strings.Cut(block, "\n\n")
		if id, ok := TaggedFinding(described); ok {
			all[id] = described
		}
	}
	return all
}
