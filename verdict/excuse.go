package verdict

import (
	"fmt"
	"regexp"
	"strings"
)

// What is said to let a problem pass that was seen. None of it is a reason.
var excuse = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`(?:pre-?)?existing (?:pattern|convention|behaviou?r|issue|problem|(?:code )?style)s?`,
	`(?:the )?same (?:pattern|problem|issue|shape|flaw) (?:already )?(?:exists|is|occurs|stands|appears|can be found)`,
	`(?:surrounding|neighbou?ring) (?:code|patterns?|style),? (?:so|and|hence|therefore|thus)`,
	`(?:separate|follow-?up|future|later|subsequent|another|next) (?:pr|prs|pull requests?|change|changeset|commit|patch|ticket|issue|iteration|session|step|release|sprint|milestone)`,
	`(?:own|dedicated|different) (?:pr|pull request|ticket|issue)`,
	`as a follow-?up`,
	`(?:fix|address|handle|improve|clean|tackle|resolve|revisit|deal with|do|harden|tighten|validate|check|sanitiz|sanitis|test|document)\w*(?: \w+){0,3} (?:later|incrementally|eventually|afterwards|some other time)(?: on)?`,
	`(?:can|could|should|may|might|will) (?:\w+ ){1,3}(?:later|incrementally|eventually|afterwards)`,
	`(?:deferred|postponed|put off|left) (?:\w+ ){0,2}(?:to|for|until) (?:the |a |an )?(?:next|later|future)`,
	`for now`,
	`good enough`,
	`(?:only|just|merely) internal`,
	`(?:out of|outside|beyond)(?: of)? (?:the )?scope`,
	`(?:not|isn't|is not) (?:in|within)(?: the)? scope`,
	`incremental(?:ly)? (?:improve|address|fix|clean)\w*`,
	`(?:leave|leaves|left|leaving|add|adds|added|with|has|is|there's) (?:\w+ ){0,2}(?:todo|fixme)s?`,
}, "|") + `)\b`)

// denied is how an excuse is said not to be made: a few words before it, in the same
// clause.
var denied = regexp.MustCompile(`(?i)\b(?:no|nothing|none|without|never|nor)(?: [^,;:.!?\s]+){0,5}\s*$`)

// further begins another clause, of which a denial before it says nothing.
var further = regexp.MustCompile(`(?i)\b(?:and|but|so|though|although|because|since|left)\b`)

// denies reports whether a text ends in a denial of what comes next.
func denies(text string) bool {
	at := denied.FindStringIndex(text)
	return at != nil && !further.MatchString(text[at[0]:at[1]])
}

// What a session repeats of others is not its own word: fenced blocks, quoted
// lines, and what stands between quotation marks or backticks.
var repeated = regexp.MustCompile("(?ms)^ {0,3}```.*?^ {0,3}```[ \t]*$|^ {0,3}>.*?$|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")

// excuseIn is the excuse that a text makes in its own words, or "".
func excuseIn(text string) string {
	text = repeated.ReplaceAllString(text, " quoted ")
	for _, at := range excuse.FindAllStringIndex(text, -1) {
		if !denies(text[:at[0]]) {
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
