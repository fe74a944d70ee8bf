package verdict

import "regexp"

// FindingTag is how a comment names the finding that it is about.
func FindingTag(id string) string { return "finding `" + id + "`" }

var taggedFinding = regexp.MustCompile("\\A\\*\\*\\[[A-Za-z-]+\\] [a-z]+\\*\\*(?: · `[^`\n]*`)? · finding `([0-9a-f]{8})`")

// TaggedFinding is the id of the finding that a comment tells of from its beginning; ok is
// false for any other text.
func TaggedFinding(comment string) (id string, ok bool) {
	m := taggedFinding.FindStringSubmatch(comment)
	if m == nil {
		return "", false
	}
	return m[1], true
}
