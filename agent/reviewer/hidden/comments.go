package hidden

import (
	"regexp"
	"strings"
)

// A document's comments are seen by whoever reads its source, and most are for the
// programs that render it. These speak of a machine, and of judging.
var (
	unrendered = regexp.MustCompile(`(?s)<!--(.*?)-->|\n\[[^\]\n]*\]:[ \t]*(?:#|<>)[ \t]+["'(]([^\n]*)["')]`)
	machine    = regexp.MustCompile(`(?i)\b(?:ai|a\.i\.|llms?|gpt|claude|gemini|copilot|touchstone|(?:language )?models?|machines?|bots?|agents?|assistants?|judges?|automated)\b`)
	judging    = regexp.MustCompile(`(?i)\b(?:look(?:s|ing)?|judg\w*|review\w*|approv\w*|verdicts?|findings?|vetted|fine|safe|trust\w*|instruct\w*|accept\w*)\b`)
)

// FindComments finds what a Markdown file, or a part of one, says to a reviewing
// machine where no reader of the page sees it. [Find] finds the rest.
func FindComments(markdown string) []Passage {
	var found []Passage
	source := "\n" + markdown
	for _, at := range unrendered.FindAllStringSubmatchIndex(source, MaxPassages) {
		said := source[at[0]:at[1]]
		if len(strings.Fields(said)) < 6 || !machine.MatchString(said) || !judging.MatchString(said) {
			continue
		}
		start := at[0] + len(said) - len(strings.TrimLeft(said, "\n"))
		found = append(found, Passage{Kind: Comment, Line: strings.Count(source[:start], "\n"), Text: clip(Reveal(squeeze(said)))})
	}
	return found
}
