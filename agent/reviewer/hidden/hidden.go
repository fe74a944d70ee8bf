// Package hidden finds text that human readers do not see as it is: characters without width, characters that
// reorder others, a second alphabet without glyphs, and names whose letters are not those they show. It knows
// these characters and the ordinary writing that needs them. It works on values and does no I/O.
//
// Where ordinary writing needs such a character, there is no passage: an emoji's joiner, the non-joiner of
// Persian, right-to-left marks in right-to-left prose, a byte order mark.
package hidden

import (
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/verdict"
)

// Kind is the trick with which a passage is hidden.
type Kind string

// The kinds of passages.
const (
	// Invisible is a character without a glyph or width, such as U+200B.
	Invisible Kind = "invisible"
	// Bidirectional is a control that shows text in another order than programs read it: Trojan Source,
	// CVE-2021-42574 (https://trojansource.codes).
	Bidirectional Kind = "bidirectional"
	// Tag is text in Unicode tag characters, a second, invisible ASCII.
	Tag Kind = "tag"
	// Lookalike is a name whose letters are not those it shows, in the sense of
	// https://www.unicode.org/reports/tr39/.
	Lookalike Kind = "lookalike"
	// Quoted is a lookalike within quotation marks: it is not a name, but a name may be compared with it.
	Quoted Kind = "lookalike in a string"
	// Said is a lookalike in a string that is no name: a sentence, or escaped bytes.
	Said Kind = "lookalike in a sentence"
)

// Passage is one line with hidden text.
type Passage struct {
	Kind Kind
	// Line is the line number in the searched text, from 1.
	Line int
	// Text is the text around the passage, with what is hidden made visible, at most 300 bytes.
	Text string
}

const (
	// MaxPassages is the maximum number of passages per text: a person needs no more to know.
	MaxPassages = 100
	maxExcerpt  = 300
)

// Find finds the hidden text in a text. It returns at most one passage of each kind per line.
func Find(text string) []Passage { return find(text, false) }

// FindCode is Find for what a program reads: there, what keeps @ and # from becoming mentions elsewhere is hidden text.
func FindCode(text string) []Passage { return find(text, true) }

func find(text string, code bool) []Passage {
	var found []Passage
	at := 0 // start of the previous mark
	line := 1
	for _, m := range scan(text, strays, code) {
		line += strings.Count(text[at:m.start], "\n")
		at = m.start
		same := func(p Passage) bool { return p.Line == line && p.Kind == m.kind }
		if slices.ContainsFunc(found, same) {
			continue
		}
		if len(found) == MaxPassages {
			break
		}
		found = append(found, Passage{Kind: m.kind, Line: line, Text: excerpt(text, m, code)})
	}
	return found
}

// Reveal makes the hidden text of [Find] visible, each place between the brackets ⟦ and ⟧. It also shows what
// Find tolerates as an accident of copying.
func Reveal(text string) string { return reveal(text, false) }

func reveal(text string, code bool) string {
	marks := scan(text, 0, code)
	if len(marks) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range marks {
		b.WriteString(text[at:m.start])
		b.WriteString("⟦" + m.shown + "⟧")
		at = m.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// mark is one place in a text; start and end are byte offsets.
type mark struct {
	start, end int
	kind       Kind
	// shown replaces the place when the text is revealed.
	shown string
}

// excerpt returns the text around a mark, revealed and on one line.
func excerpt(text string, m mark, code bool) string {
	const around = 60
	start, end := max(0, m.start-around), min(len(text), m.end+around)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	part := text[start:end]
	if i := strings.LastIndexByte(text[start:m.start], '\n'); i >= 0 {
		part = part[i+1:]
	}
	part, _, _ = strings.Cut(part, "\n")
	return verdict.Clip(strings.Join(strings.Fields(reveal(part, code)), " "), maxExcerpt)
}
