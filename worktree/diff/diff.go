// Package diff parses git's output about a change: its files, and the lines of their unified diffs. It owns
// no state, does not know where a diff comes from, and imports nothing of this module.
package diff

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Hunk is one changed region with its context, as in "@@ -1,4 +1,5 @@ func main() {".
type Hunk struct{ OldStart, OldLines, NewStart, NewLines int }

// Header is the line that begins the hunk in a diff, without the text after the numbers.
func (h Hunk) Header() string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
}

// Line is a line of a hunk, or the line that begins one.
type Line struct {
	// Sign is '+', '-' or ' ' for a line of a file, '@' for the first line of a hunk, and '\\' for a remark
	// about the line before, such as that no line end follows it.
	Sign byte
	// Old and New are the line's numbers in the old and the new file; 0 if the line is not in that file.
	Old, New int
	Raw      []byte // the whole line, sign included, without its line end
	Hunk     Hunk   // the hunk that begins here, if Sign is '@'
}

// Text returns the line as it is in the file, without its line end.
func (l Line) Text() []byte { return l.Raw[1:] }

// Lines returns the lines of all hunks. The counts in a hunk's first line determine its length, so that no
// line of a file is mistaken for a header. Headers and lines outside of hunks are left out.
func Lines(patch []byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var w Walker
		for raw := range bytes.Lines(patch) {
			if l := w.Next(bytes.TrimSuffix(raw, []byte("\n"))); l.Sign != 0 && !yield(l) {
				return
			}
		}
	}
}

// Signed returns the texts of the lines with one of these signs.
func Signed(patch []byte, signs ...byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for l := range Lines(patch) {
			if slices.Contains(signs, l.Sign) && !yield(l.Text()) {
				return
			}
		}
	}
}

// Walker is a position in a diff, for callers that read a diff in pieces. Its zero value is the beginning.
type Walker struct{ old, new, oldLeft, newLeft int }

// Inside reports whether the current hunk continues.
func (w *Walker) Inside() bool { return w.oldLeft > 0 || w.newLeft > 0 }

// Next parses the next line, given without its line end; its end may be cut off. The result's Sign is 0 if
// the line is not part of a hunk.
func (w *Walker) Next(raw []byte) Line {
	l := Line{Raw: raw}
	if len(raw) == 0 {
		return l
	}
	switch sign := raw[0]; {
	case sign == '\\':
		l.Sign = sign
	case sign == '+' && w.newLeft > 0:
		l.Sign, l.New = sign, w.new
		w.new, w.newLeft = w.new+1, w.newLeft-1
	case sign == '-' && w.oldLeft > 0:
		l.Sign, l.Old = sign, w.old
		w.old, w.oldLeft = w.old+1, w.oldLeft-1
	case sign == ' ' && w.oldLeft > 0 && w.newLeft > 0:
		l.Sign, l.Old, l.New = sign, w.old, w.new
		w.old, w.oldLeft, w.new, w.newLeft = w.old+1, w.oldLeft-1, w.new+1, w.newLeft-1
	case sign == '@':
		if h, ok := parseHunk(string(raw[:min(len(raw), maxHeader)])); ok {
			l.Sign, l.Hunk = sign, h
			*w = Walker{h.OldStart, h.NewStart, h.OldLines, h.NewLines}
		}
	}
	return l
}

// maxHeader bounds how much of a hunk's first line is read, in bytes: four numbers and their signs.
const maxHeader = 64

// parseHunk reads "@@ -1,4 +1,5 @@ func main() {"; a missing count is 1.
func parseHunk(line string) (h Hunk, ok bool) {
	f := strings.SplitN(line, " ", 4)
	if len(f) < 4 || f[0] != "@@" || !strings.HasPrefix(f[3], "@@") {
		return Hunk{}, false
	}
	side := func(text, sign string, start, lines *int) bool {
		text, ok := strings.CutPrefix(text, sign)
		first, count, counted := strings.Cut(text, ",")
		if !counted {
			count = "1"
		}
		return ok && number(first, start) && number(count, lines)
	}
	ok = side(f[1], "-", &h.OldStart, &h.OldLines) && side(f[2], "+", &h.NewStart, &h.NewLines)
	return h, ok
}

func number(text string, to *int) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	*to = int(n)
	return err == nil
}
