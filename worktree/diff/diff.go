// Package diff reads what git prints of a change: the files of it, and the lines of their unified
// diffs. It owns no state, knows nothing of where a diff comes from, and imports nothing of this module.
package diff

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Hunk is one changed region with its context, as in "@@ -1,4 +1,5 @@ func main() {".
type Hunk struct{ OldStart, OldLines, NewStart, NewLines int }

// Line is a line of a hunk, or the one that begins it.
type Line struct {
	// Sign is '+', '-' or ' ' for a line of a file, '@' for the first line of a hunk, and '\\' for
	// what is said about the line before, such as that no line end follows it.
	Sign byte
	// Old and New are the line's numbers in the old and in the new file, 0 where it is not in it.
	Old, New int
	Raw      []byte // the whole line, sign included, without its line end
	Hunk     Hunk   // that begins here, where Sign is '@'
}

// Text is a line of a file as it is there, without its line end.
func (l Line) Text() []byte { return l.Raw[1:] }

// Lines are the lines of all hunks. The counts in a hunk's first line say how far it reaches, so that
// no line of a file passes for a header; headers are left out, and so is what fits in no hunk.
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

// Signed are the texts of the lines with one of these signs.
func Signed(patch []byte, signs ...byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for l := range Lines(patch) {
			if slices.Contains(signs, l.Sign) && !yield(l.Text()) {
				return
			}
		}
	}
}

// Walker is where a walk through a diff stands, for those that read one in pieces. Its zero value is
// the beginning.
type Walker struct{ old, new, oldLeft, newLeft int }

// Inside reports whether the hunk goes on.
func (w *Walker) Inside() bool { return w.oldLeft > 0 || w.newLeft > 0 }

// Next is what the next line is, which comes without its line end and may be cut behind its
// beginning. Its Sign is 0 where it is part of no hunk.
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

// maxHeader bounds what is read of a hunk's first line, in bytes: four numbers and their signs.
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
