// Package terminal owns what commands write for people: text that cannot steer the terminal it is
// shown on, and whether there is one.
package terminal

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Plain is a text on one line without terminal controls and without characters that hide or turn
// around what follows: each such character becomes U+FFFD.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(s, "\t", " "))
}

// Lines is Plain for a text of several lines, which may end as those of Windows do.
func Lines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Plain(line)
	}
	return strings.Join(lines, "\n")
}

// Wrap breaks a text into lines of at most so many columns, between words; a longer word has a line of its own.
func Wrap(text string, columns int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line, width := "", 0
		for word := range strings.SplitSeq(paragraph, " ") {
			size := utf8.RuneCountInString(word)
			if width > 0 && width+1+size > columns {
				lines, line, width = append(lines, line), "", 0
			}
			if width > 0 {
				line, width = line+" ", width+1
			}
			line, width = line+word, width+size
		}
		lines = append(lines, line)
	}
	return lines
}

// Is reports whether an output, or an input, is a terminal.
func Is(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Size is the columns and lines of a terminal; 80 by 24 where that cannot be told.
func Size(stream any) (columns, lines int) {
	if file, ok := stream.(*os.File); ok {
		if columns, lines, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 && lines > 0 {
			return columns, lines
		}
	}
	return 80, 24
}
