// Package hidden finds what a text holds without its human readers seeing it:
// characters of no width, characters that reorder others, a second alphabet that has no
// glyphs, and names whose letters are not those they show. It owns the knowledge of those
// characters and of the ordinary writing that needs them; it reads values and does no I/O.
//
// Where ordinary writing needs such a character (an emoji's joiner, the non-joiner of
// Persian, right-to-left marks in right-to-left prose, a byte order mark) there is no
// passage.
package hidden

import (
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/verdict"
)

// Kind is the trick by which a passage is hidden.
type Kind string

// The kinds of passages.
const (
	// Invisible is a character without a glyph or width, such as U+200B.
	Invisible Kind = "invisible"
	// Bidirectional is a control that shows text in another order than it is
	// read in: Trojan Source, CVE-2021-42574 (https://trojansource.codes).
	Bidirectional Kind = "bidirectional"
	// Tag is text in Unicode tag characters, which are a second, invisible ASCII.
	Tag Kind = "tag"
	// Lookalike is a name whose letters are not those it shows, in the sense of
	// https://www.unicode.org/reports/tr39/.
	Lookalike Kind = "lookalike"
	// Quoted is such a word within quotation marks: not a name, but maybe what one is
	// compared with.
	Quoted Kind = "lookalike in a string"
)

// Passage is one line with something hidden in it.
type Passage struct {
	Kind Kind
	// Line counts from 1 in the text that was searched.
	Line int
	// Text is the place with what is hidden made visible, 300 bytes at most.
	Text string
}

const (
	// MaxPassages bounds the passages of one text: beyond it, a person knows.
	MaxPassages = 100
	maxExcerpt  = 300
)

// Find finds what is hidden in a text. There is at most one passage of each kind for
// one line.
func Find(text string) []Passage {
	var found []Passage
	at := 0 // where the line of the mark before began
	line := 1
	for _, m := range scan(text, strays) {
		line += strings.Count(text[at:m.start], "\n")
		at = m.start
		same := func(p Passage) bool { return p.Line == line && p.Kind == m.kind }
		if slices.ContainsFunc(found, same) {
			continue
		}
		if len(found) == MaxPassages {
			break
		}
		found = append(found, Passage{Kind: m.kind, Line: line, Text: excerpt(text, m)})
	}
	return found
}

// Reveal is the text with what [Find] finds made visible, each place between the
// brackets ⟦ and ⟧. It shows also what Find lets pass as an accident of copying.
func Reveal(text string) string {
	marks := scan(text, 0)
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

// mark is one place of a text, in bytes.
type mark struct {
	start, end int
	kind       Kind
	// shown stands in its place when the text is revealed.
	shown string
}

// excerpt is the surroundings of a mark, revealed and on one line.
func excerpt(text string, m mark) string {
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
	return verdict.Clip(strings.Join(strings.Fields(Reveal(part)), " "), maxExcerpt)
}
