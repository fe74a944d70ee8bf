package hidden

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// strays is how many runs of one invisible character at the edge of a line, of its words or of its markup count as an
// accident of copying: web pages and chats have many of them. A run of one character says nothing but its length.
const (
	strays   = 3
	maxStray = 32 // characters of a run
)

// scan returns the marks of a text in order; they do not overlap. It tolerates the given number of strays. For code see
// [FindCode].
func scan(text string, strays int, code bool) []mark {
	var all []mark
	at := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	prose := sync.OnceValue(func() bool { return strings.ContainsFunc(text, rightToLeft) })
	for line := range strings.Lines(text[at:]) {
		start := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		if !plain(line) {
			all = append(all, (&finder{line: line, at: start, strays: &strays, rtl: prose(), code: code}).find()...)
		}
	}
	return sorted(all)
}

// plain reports whether a line contains only printable ASCII and tabs.
func plain(line string) bool {
	for i := range len(line) {
		if c := line[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// finder searches one line that is not plain.
type finder struct {
	line   string
	at     int  // start of the line in the text
	strays *int // how many more strays are tolerated
	rtl    bool // the text has right-to-left prose, in which direction marks hide nothing
	code   bool // a program reads the text
	marks  []mark
}

func (f *finder) find() []mark {
	rtl := strings.ContainsFunc(f.line, rightToLeft)
	f.bidirectional(rtl)
	for i := 0; i < len(f.line); {
		r, size := utf8.DecodeRuneInString(f.line[i:])
		end := i + size
		switch {
		case isTag(r):
			f.tag(i)
		case invisible(r):
			for strings.HasPrefix(f.line[end:], f.line[i:i+size]) {
				end += size
			}
			f.invisible(i, end, r)
		}
		i = end
	}
	f.lookalikes()
	return f.marks
}

func (f *finder) mark(start, end int, kind Kind, shown string) {
	f.marks = append(f.marks, mark{f.at + start, f.at + end, kind, shown})
}

// around returns the characters before and after the one at i; 0 at the ends of the line.
func (f *finder) around(i int) (before, after rune) {
	_, size := utf8.DecodeRuneInString(f.line[i:])
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(f.line[:i])
	}
	if i+size < len(f.line) {
		after, _ = utf8.DecodeRuneInString(f.line[i+size:])
	}
	return before, after
}

// tag marks a run of tag characters at its first one. Three flags are written with tag characters
// (https://www.unicode.org/reports/tr51/#valid-emoji-tag-sequences).
func (f *finder) tag(i int) {
	before, _ := f.around(i)
	if isTag(before) {
		return
	}
	run := f.line[i:]
	if end := strings.IndexFunc(run, func(r rune) bool { return !isTag(r) }); end >= 0 {
		run = run[:end]
	}
	said := untag(run)
	if before == '\U0001F3F4' && (said == "gbeng" || said == "gbsct" || said == "gbwls") {
		return
	}
	f.mark(i, i+len(run), Tag, fmt.Sprintf("in tag characters: %q", said))
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

// untag returns the ASCII text in tag characters.
func untag(s string) string {
	return strings.Map(func(r rune) rune {
		if r = r - 0xE0000; r >= ' ' && r <= '~' {
			return r
		}
		return -1
	}, s)
}

// invisible marks the run of the character r from start to end, which has no glyph, unless it is a stray. Characters
// that ordinary writing has in their place are left out.
func (f *finder) invisible(start, end int, r rune) {
	known := len(f.marks)
	first, _ := f.around(start)
	for i := start; i < end; i += utf8.RuneLen(r) {
		before, after := f.around(i)
		if r == 0x200B {
			before = first
		}
		if !f.ordinary(r, before, after) && (before != '-' && after != '-' || !ranges(f.line)) {
			f.mark(i, i+utf8.RuneLen(r), Invisible, fmt.Sprintf("U+%04X", r))
		}
	}
	if len(f.marks) > known && f.apart(start, end) {
		if *f.strays--; *f.strays >= 0 && copied(r) && end-start <= maxStray*utf8.RuneLen(r) {
			f.marks = f.marks[:known]
		}
	}
}

// copied reports whether a character comes along when text is copied from a page.
func copied(r rune) bool {
	return r >= 0x200B && r <= 0x200F || r == 0x2060 || r == 0xFEFF || r == 0xAD
}

// apart reports whether the run from start to end is at an edge of the line, of a word or of markup.
func (f *finder) apart(start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(f.line[:start])
	after, _ := utf8.DecodeRuneInString(f.line[end:])
	return start == 0 || end == len(f.line) || unicode.IsSpace(before) || unicode.IsSpace(after) || before == '>' || after == '<'
}
