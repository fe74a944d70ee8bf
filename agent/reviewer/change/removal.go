package change

import (
	"strings"

	"touchstone/verdict"
)

// Removal finds removed lines in a diff by a quote of them, ignoring white space and signs. It returns the
// head's line that stands for them: the line after the removed ones, or the line before if the hunk ends
// there. ok is false if no hunk removes the quote, or if nothing of the file is left.
func Removal(patch []byte, quote string) (line int, ok bool) {
	wanted := unsigned(quote)
	if wanted == "" {
		return 0, false
	}
	for _, r := range regionsOf(patch) {
		at, gone := r.NewStart, ""
		for _, row := range append(r.rows, []byte(" ")) {
			if row[0] == '-' {
				gone += string(row[1:]) + "\n"
				continue
			}
			if strings.Contains(verdict.OneLine(gone), wanted) {
				return min(at, r.NewStart+r.NewLines-1), r.NewLines > 0
			}
			if row[0] == ' ' { // lines added in between belong to the same edit
				gone = ""
			}
			if row[0] != '\\' {
				at++
			}
		}
	}
	return 0, false
}

// unsigned returns a quote of a diff without its signs, with single spaces.
func unsigned(quote string) string {
	var b strings.Builder
	for line := range strings.Lines(quote) {
		b.WriteString(strings.TrimPrefix(strings.TrimSpace(line), "-") + "\n")
	}
	return verdict.OneLine(b.String())
}
