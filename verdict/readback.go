package verdict

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Passage is a part of an answer's text that, as another session reads it, names a possible defect which the
// answer's lists lack.
type Passage struct {
	Quote string `json:"quote"`
	// Path is the changed file that it is about; empty if that is open.
	Path  string `json:"path"`
	Claim string `json:"claim"`
}

// ReadMarker is the last line of that session's answer.
const ReadMarker = "<!-- READ:DONE -->"

const (
	// leastRead is how long a line of text must at least be, in bytes, to name a defect.
	leastRead = 48
	// leastQuoted is how many bytes of letters and digits a passage must quote of the text.
	leastQuoted = 12
)

// Telling reports whether the text of an answer is more than a list of what was examined.
func (j Judgement) Telling() bool {
	for line := range strings.Lines(j.Text) {
		if name, examined, ok := strings.Cut(line, examinedLabel); ok {
			if _, ok = dimension(name); ok {
				line = examined
			}
		}
		if len(strings.TrimSpace(line)) >= leastRead {
			return true
		}
	}
	return false
}

// JudgeReading reads the whole answer of a session that was asked what some texts name. It returns the passages that one
// of the texts really has. The error, a sentence fragment, says why an answer does not count.
func JudgeReading(answer, nonce string, texts ...string) ([]Passage, error) {
	body, marked := ending(strings.ReplaceAll(answer, "\r\n", "\n"), nonce, ReadMarker)
	if marked == "" {
		return nil, fmt.Errorf("its answer does not end in this run's nonce and the marker")
	}
	var read struct {
		Named []Passage `json:"named"`
	}
	if _, err := readBlock(body, &read); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(read.Named, func(p Passage) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return says(text, p.Quote) })
	}), nil
}

// says reports whether a text has a passage, allowing one wrong word in five: a reader's slip does not hide a defect, and
// what the text never said holds nothing up.
func says(text, quote string) bool {
	words := spoken(quote)
	if len(strings.Join(words, "")) < leastQuoted {
		return false
	}
	if strings.Contains(strings.Join(spoken(text), " "), strings.Join(words, " ")) {
		return true
	}
	for line := range strings.Lines(text) {
		in, had := spoken(line), 0
		for _, w := range words {
			if slices.Contains(in, w) {
				had++
			}
		}
		if 5*had >= 4*len(words) {
			return true
		}
	}
	return false
}

// spoken are the words of a text in lower case, without what Markdown adds to them.
func spoken(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Quotes are what names possible defects in the text of an earlier answer to the same question. This answer has to list
// them.
func (g Grounds) Quotes() (all []string) {
	for _, n := range g.Named {
		if n.Quote != "" {
			all = append(all, n.Quote)
		}
	}
	return all
}

// Doubt takes an approval back for passages of its text that name possible defects. The next answer to the same
// question has to list each of them.
func (j *Judgement) Doubt(passages []Passage, g Grounds) {
	for _, p := range passages {
		n := Named{Paths: g.Changed, Quote: p.Quote}
		if path := g.sources().path(p.Path); slices.Contains(g.Changed, path) {
			n.Paths = []string{path}
		}
		n.Listed = j.entries(g, n)
		j.Named = append(j.Named, n)
		j.Verdict = RequestChanges
		j.doubt(fmt.Sprintf("The session's text says %q. That is a possible defect, and it is neither among its findings nor among its "+
			"candidates: it has to be one of them.", Clip(OneLine(p.Quote), maxDoubt)))
	}
}

// TooLong takes an approval back whose text has more bytes than can be read.
func (j *Judgement) TooLong(most int) {
	j.Verdict = RequestChanges
	j.doubt(fmt.Sprintf("The session's text has %d bytes, and at most %d are read: it has to be shorter.", len(j.Text), most))
}
