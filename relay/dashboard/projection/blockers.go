package projection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict"
)

// blockers returns what prevents the merge of an open pull request.
func (v *view) blockers(s Summary) []string {
	list := []string{}
	if s.State != "open" {
		return list
	}
	if v.Draft {
		list = append(list, "It is a draft.")
	}
	called := slices.Contains(v.Labels, NeedsHuman)
	if called {
		list = append(list, "It carries the label "+NeedsHuman+": a person has to look at it, and to take the label off.")
	}
	for _, text := range v.missing() {
		list = append(list, Sentence(text))
	}
	if v.word != "" && !v.held() && (v.heeded || called || len(list) == 0) {
		list = append(list, Sentence(v.word))
	}
	return list
}

// held reports whether the review of the head waits for a person.
func (v *view) held() bool {
	return v.onHead != nil && v.onHead.Record.Verdict == verdict.RequestChanges && len(v.onHead.Record.Holds) > 0
}

// missing returns what the head lacks for a merge, as sentences without their full stops.
func (v *view) missing() []string {
	list := []string{}
	switch {
	case v.onHead == nil:
		list = append(list, v.unreviewed())
	case v.onHead.Record.Verdict == verdict.RequestChanges:
		for _, e := range v.ledger().Outstanding() {
			if e.Severity.Blocks() && !e.Tolerated {
				list = append(list, fmt.Sprintf("%s at %s: %s", e.Severity, Plain(verdict.Place(e.Path, e.Line), maxName), Plain(e.Claim, maxTitle)))
			}
		}
		for _, h := range v.onHead.Record.Holds {
			list = append(list, "a person has to let it pass: "+hold(h))
		}
		if len(list) == 0 {
			list = append(list, fmt.Sprintf("round %d asks for changes: the review is not complete", v.onHead.Record.Round))
		}
	}
	_, failed, pending := v.head().ci()
	if len(failed) > 0 {
		list = append(list, "CI fails: "+names(failed))
	}
	if len(pending) > 0 {
		list = append(list, "CI runs: "+names(pending))
	}
	return list
}

func hold(h verdict.Hold) string {
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
	return text
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
