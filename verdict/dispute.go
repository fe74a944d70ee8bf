package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Disputes is the comment by which an author's agent disputes findings of the review of a head, by id, each
// with evidence, without changing anything.
func Disputes(head string, evidence map[string]string) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(evidence)) {
		fmt.Fprintf(&b, "/touchstone dispute %s %s\n\n", id, OneLine(evidence[id]))
	}
	b.WriteString("The author's agent changed nothing for this. The reviewer judges it once more; what is still open after that " +
		"must be fixed, or a person must decide.\n\n")
	return b.String() + DisputesMark(head)
}

// DisputeAnswer is the reply of the author's agent in the thread of a finding that a fix disputes.
func DisputeAnswer(evidence string) string { return "Disputed: " + evidence }

// HasDisputed reports whether a text is such a comment about a head.
func HasDisputed(body, head string) bool {
	return strings.HasSuffix(strings.TrimSpace(body), DisputesMark(head))
}

// disputes are the orders in such a comment of the author's agent. They are nil for any other comment and for
// an edited one.
func (c Comment) disputes() (all []Command) {
	lines := strings.Split(strings.TrimSpace(c.Body), "\n")
	untouched := !c.Edited && !c.InReview && len(c.Was) == 0 && c.Deleted == ""
	if !c.ByAuthor || c.Bot || !c.CanPush || !untouched || !disputesMark.MatchString(lines[len(lines)-1]) {
		return nil
	}
	for _, l := range lines {
		if o, ok := parseOrder(strings.TrimSpace(l)); ok && o.Verb == Dispute {
			o.ID, o.By, o.At = c.ID, c.By, c.At
			all = append(all, o)
		}
	}
	return all
}
