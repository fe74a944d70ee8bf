// Package terminal owns what commands write for people: text that cannot steer the terminal it is
// shown on, and whether there is one.
package terminal

import (
	"os"
	"strings"
	"unicode"

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
