// Package words finds what a change says of itself, where no rule knows what it does: words that
// are new to a build file, to the comments of pipelines and settings, or to the code that tests
// share, and by which people leave something out or call it flaky. Its findings are evidence
// alone, one for each file. It does no I/O.
package words

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// left are parts of words that say that something is left out, or that it fails at times.
var left = strings.Fields("skip disabl flaky flakey flakiness xfail suppress quarantin temporar unstable intermittent unreliab " +
	"re-enabl reenabl broken exclud ignor retry retri fixme unsupported")

// word is a name or a word of a sentence.
var word = regexp.MustCompile(`[\w-]+`)

// Look finds the first word of a text that says so more often than the text of before.
func Look(f change.File, before, after string) (change.Finding, bool) {
	had := map[string]int{}
	for _, w := range word.FindAllString(before, -1) {
		had[strings.ToLower(w)]++
	}
	words := word.FindAllString(after, -1)
	i := slices.IndexFunc(words, func(w string) bool {
		w = strings.ToLower(w)
		had[w]--
		return had[w] < 0 && slices.ContainsFunc(left, func(part string) bool { return strings.Contains(w, part) })
	})
	if i < 0 {
		return change.Finding{}, false
	}
	says := words[i]
	line := 1 + strings.Count(string(f.After[:max(0, strings.Index(string(f.After), says))]), "\n")
	return change.Finding{Tier: change.Evidence, Kind: change.Test, Rule: "words/left-out",
		Why:   "The word " + says + " is new here: something may be left out.",
		Place: change.Place{Path: f.Path, Line: line, After: says}}, true
}

// Comments are the comments of a file of settings, by their usual mark.
func Comments(content []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(content)) {
		if i := strings.IndexByte(line, '#'); i >= 0 && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			out.WriteString(line[i:])
		}
	}
	return out.String()
}
