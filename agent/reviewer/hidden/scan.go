package hidden

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// strays is how many single invisible characters next to white space or at a line's edge count as an accident
// of copying: web pages and chats have many of them.
const strays = 3

// scan returns the marks of a text in order; they do not overlap. It tolerates the given number of strays.
func scan(text string, strays int) []mark {
	var all []mark
	at := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	prose := strings.ContainsFunc(text, rightToLeft)
	for line := range strings.Lines(text[at:]) {
		start := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		if !plain(line) {
			all = append(all, (&finder{line: line, at: start, strays: &strays, rtl: prose}).find()...)
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
	marks  []mark
}

func (f *finder) find() []mark {
	rtl := strings.ContainsFunc(f.line, rightToLeft)
	f.bidirectional(rtl)
	run, last := 0, rune(0) // where the characters that are the same as this one begin
	for i, r := range f.line {
		if r != last {
			run, last = i, r
		}
		switch {
		case isTag(r):
			f.tag(i)
		case invisible(r):
			f.invisible(run, i, r)
		}
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

// invisible marks the character r at i, which has no glyph, unless ordinary writing has it in this place. The run of
// the same characters that it is in begins at run.
func (f *finder) invisible(run, i int, r rune) {
	before, after := f.around(i)
	if r == 0x200B {
		before, _ = f.around(run)
	}
	switch {
	case ordinary(r, before, after, f.rtl), (before == '-' || after == '-') && ranges(f.line):
		return
	case f.apart(run, i, r):
		if *f.strays--; *f.strays >= 0 && copied(r) {
			return
		}
	}
	f.mark(i, i+utf8.RuneLen(r), Invisible, fmt.Sprintf("U+%04X", r))
}

// copied reports whether a character comes along when text is copied from a page.
func copied(r rune) bool {
	return r >= 0x200B && r <= 0x200F || r == 0x2060 || r == 0xFEFF || r == 0xAD
}

// apart reports whether the run of the character r at i, which begins at run, is next to white space or at an edge of the
// line. It looks no further than strays are tolerated: of a line of such characters, each is asked about.
func (f *finder) apart(run, i int, r rune) bool {
	right := f.line[i:]
	for range strays {
		right = strings.TrimPrefix(right, string(r))
	}
	before, _ := utf8.DecodeLastRuneInString(f.line[:run])
	after, _ := utf8.DecodeRuneInString(right)
	return run == 0 || right == "" || unicode.IsSpace(before) || unicode.IsSpace(after)
}
