package verdict

import (
	"fmt"
	"regexp"
	"strings"
)

// What is said to let a problem pass that was seen. None of it is a reason.
var excuse = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`(?:pre-?)?existing (?:pattern|convention|behaviou?r|issue|problem|code style)s?`,
	`(?:separate|follow-?up|future|later|subsequent|another|next) (?:pr|prs|pull requests?|change|changeset|commit|patch|ticket|issue|iteration|session|step|release)`,
	`as a follow-?up`,
	`(?:fix|address|handle|improve|clean|tackle|resolve|revisit|deal with|do)\w*(?: \w+){0,3} (?:later|incrementally|some other time)`,
	`(?:out of|outside|beyond)(?: of)? (?:the )?scope`,
	`(?:not|isn't|is not) (?:in|within)(?: the)? scope`,
	`incremental(?:ly)? (?:improve|address|fix|clean)\w*`,
	`(?:leave|leaves|left|leaving|add|adds|added|with) (?:\w+ ){0,2}(?:todo|fixme)s?`,
}, "|") + `)\b`)

// denied is how the clause before an excuse says that there is none of it.
var denied = regexp.MustCompile(`(?i)\b(?:no|nothing|none|without|never|nor)\b[^,;:.!?]*$`)

// What a session repeats of others is not its own word: fenced blocks, quoted
// lines, and what stands between quotation marks or backticks.
var repeated = regexp.MustCompile("(?ms)^ {0,3}```.*?^ {0,3}```[ \t]*$|^ {0,3}>.*?$|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")

// excuseIn is the excuse that a text makes in its own words, or "".
func excuseIn(text string) string {
	text = repeated.ReplaceAllString(text, " quoted ")
	for _, at := range excuse.FindAllStringIndex(text, -1) {
		if !denied.MatchString(text[:at[0]]) {
			return squeeze(text[at[0]:at[1]])
		}
	}
	return ""
}

// doubtExcuses flags what a session says to let a problem pass: below a finding
// that it made milder than its rule is, or where it says what it examined, in the
// place of a finding.
func (j *Judgement) doubtExcuses(prose string) {
	for _, f := range j.Answer.Findings {
		if f.Was == "" {
			continue
		}
		if said := excuseIn(strings.Join([]string{f.Claim, f.Why, f.Suggestion, f.Verify}, "\n")); said != "" {
			j.doubt(fmt.Sprintf("The session excused a finding on %q with %q, which is no reason.", clip(f.Path, maxDoubt), clip(said, maxDoubt)))
		}
	}
	said := excuseIn(prose)
	if said == "" {
		said = excuseIn(j.Answer.Summary)
	}
	for _, e := range j.Answer.Dimensions {
		if said == "" {
			said = excuseIn(e.Examined)
		}
	}
	if said != "" {
		j.doubt(fmt.Sprintf("The session let something pass with %q, which is no reason: it has to be a finding, or nothing at all.", clip(said, maxDoubt)))
	}
}
