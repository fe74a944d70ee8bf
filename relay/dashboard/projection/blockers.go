package projection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

// need is something that the merge of an open pull request needs and, by the log, does not have.
type need struct {
	turn   verdict.Turn // of the party that can bring it about
	since  time.Time
	reason string   // why it is that party's turn
	lacks  []string // the same in full, as sentences without their full stops
}

// needs returns what the merge of an open pull request needs, in order: the first one decides whose turn it is,
// and what all of them lack prevents the merge. The agents ask GitHub about more than the log tells; see quote.
func (v *view) needs(s Summary) (list []need) {
	if v.called() {
		reason := "it carries the label " + v.label
		list = append(list, need{verdict.TurnPerson, later(v.LabelledAt, v.OpenedAt), reason,
			[]string{reason + ": a person has to look at it, and to take the label off"}})
	}
	if v.Draft {
		list = append(list, need{verdict.TurnAuthor, v.OpenedAt, "it is a draft", []string{"it is a draft"}})
	}
	return append(list, v.needsOfHead(s)...)
}

// needsOfHead returns the needs that the head's review and checks leave. The last one is the merge itself, which
// lacks nothing.
func (v *view) needsOfHead(s Summary) (list []need) {
	add := func(turn verdict.Turn, since time.Time, reason string, lacks ...string) {
		list = append(list, need{turn, since, reason, lacks})
	}
	var reviewed time.Time
	if v.onHead != nil {
		reviewed = v.onHead.At
	}
	switch {
	case v.onHead == nil:
		add(verdict.TurnReviewer, v.headAt(v.Head), v.unreviewed(), v.unreviewed())
	case v.held() && s.Open.Blocking() == 0:
		add(verdict.TurnPerson, reviewed, passing(v.onHead.Record.Holds[0]), v.asked()...)
	case v.onHead.Record.Verdict == verdict.RequestChanges:
		add(verdict.TurnAuthor, reviewed, fmt.Sprintf("changes requested in round %d%s", s.Round, of(s.Open)), v.asked()...)
	}
	_, failed, pending := v.head().ci()
	if len(failed) > 0 {
		text := "CI fails: " + names(failed)
		add(verdict.TurnAuthor, v.checkedAt(failed), "approved, but "+text, text)
	}
	if len(pending) > 0 {
		text := "CI runs: " + names(pending)
		add(verdict.TurnCI, reviewed, "approved, and "+text, text)
	}
	add(verdict.TurnAuthor, reviewed, fmt.Sprintf("approved in round %d, ready to merge", s.Round))
	return list
}

// asked returns what a review that requests changes asks for.
func (v *view) asked() (list []string) {
	for _, e := range v.ledger().Outstanding() {
		if e.Severity.Blocks() && !e.Tolerated {
			list = append(list, fmt.Sprintf("%s at %s: %s", e.Severity, Plain(verdict.Place(e.Path, e.Line), maxName), Plain(e.Claim, maxTitle)))
		}
	}
	for _, h := range v.onHead.Record.Holds {
		list = append(list, passing(h))
	}
	if len(list) == 0 {
		list = append(list, fmt.Sprintf("round %d asks for changes: the review is not complete", v.onHead.Record.Round))
	}
	return list
}

// blockers returns what prevents the merge of an open pull request.
func (v *view) blockers(s Summary) []string {
	list := []string{}
	if s.State != "open" {
		return list
	}
	for _, text := range lacks(v.needs(s)) {
		list = append(list, Sentence(text))
	}
	if v.word != "" && !v.held() && (v.heeded || v.called() || len(list) == 0) {
		list = append(list, Sentence(v.word))
	}
	return list
}

// lacks lists what all of the needs lack.
func lacks(needs []need) []string {
	list := []string{}
	for _, n := range needs {
		list = append(list, n.lacks...)
	}
	return list
}

// called reports whether the agents call a person by the label.
func (v *view) called() bool {
	return slices.ContainsFunc(v.Labels, func(l string) bool { return strings.EqualFold(l, v.label) })
}

// held reports whether the review of the head waits for a person.
func (v *view) held() bool {
	return v.onHead != nil && v.onHead.Record.Verdict == verdict.RequestChanges && len(v.onHead.Record.Holds) > 0
}

// passing says that a person has to let pass what a review holds.
func passing(h verdict.Hold) string {
	text := map[verdict.HoldKind]string{
		verdict.QualityBar: "the quality bar is lowered", verdict.HiddenText: "it holds hidden text",
		verdict.Manipulation: "it tries to steer the review",
	}[h.Kind]
	if text == "" {
		text = Plain(string(h.Kind), 60)
	}
	if h.Path != "" {
		text += " at " + Plain(verdict.Place(h.Path, h.Line), maxName)
	}
	if h.Detail != "" {
		text += " (" + Plain(strings.TrimSuffix(h.Detail, "."), maxTitle) + ")"
	}
	return "a person has to let it pass: " + text
}

func by(login string) string {
	if login == "" {
		return ""
	}
	return " by " + login
}

func of(c Counts) string {
	if text := c.String(); text != "" {
		return ": " + text
	}
	return ""
}

// names lists at most three of the names.
func names(all []string) string {
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:3], ", "), len(all)-3)
	}
	return strings.Join(all, ", ")
}

// commitName matches a commit's name at the beginning of a text.
var commitName = regexp.MustCompile(`^[0-9a-f]{7,64}\b`)

// Sentence returns a text with a capital letter and a full stop. A commit's name at the beginning stays as it
// is.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.TrimSuffix(text, ".") + "."
	if commitName.MatchString(text) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
