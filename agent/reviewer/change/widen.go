package change

import (
	"bytes"
	"fmt"
	"slices"

	"touchstone/agent/outline"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

const (
	// wholeLines is the maximum length of a function that is shown completely, in lines. Of a longer
	// function, the head is shown, and nearLines on both sides of the change.
	wholeLines = 90
	nearLines  = 15
	// aboveLines is the maximum length of the comment that is shown above a function.
	aboveLines = 12
	// maxWider is the maximum number of lines added to one change's patches.
	maxWider = 1500
	// maxWide is the maximum size of a file in which functions are searched, in bytes.
	maxWide = 1 << 20
)

// region is one hunk of a diff, and its rows with their signs.
type region struct {
	diff.Hunk
	rows [][]byte
}

// span is a range of lines of the head, both ends included.
type span struct{ first, last int }

// widen makes each hunk of a diff show the whole function or type around it, as it is at the head, with at
// most room additional lines. It returns how many lines it added. A diff that does not match the head, or has
// nothing around its hunks, stays unchanged.
func widen(name string, patch, head []byte, room int) ([]byte, int) {
	regions := regionsOf(patch)
	lines := bytes.Split(bytes.TrimSuffix(head, []byte("\n")), []byte("\n"))
	if len(regions) == 0 || room <= 0 || !fitting(regions, lines) {
		return patch, 0
	}
	blocks := outline.Of(name, head)
	// For each line, the function that contains it, or else the type.
	function := outline.ByLine(blocks, outline.Block.Callable)
	other := outline.ByLine(blocks, func(b outline.Block) bool { return b.Kind == "type" || b.Kind == "test" })
	innermost := func(line int) (outline.Block, bool) {
		if b, ok := function(line); ok {
			return b, true
		}
		return other(line)
	}
	var spans []span
	own, all := 0, 0
	for _, r := range regions {
		own += r.NewLines
		spans = append(spans, span{r.NewStart, r.NewStart + r.NewLines - 1})
		for _, around := range r.around(innermost, lines) {
			spans = append(spans, span{max(1, around.first), min(len(lines), around.last)})
		}
	}
	spans = union(spans)
	for _, s := range spans {
		all += s.last - s.first + 1
	}
	if all-own > room || all == own {
		return patch, 0
	}
	return written(spans, regions, lines), all - own
}

// regionsOf returns the hunks of a diff; none if the diff was cut off.
func regionsOf(patch []byte) []region {
	var all []region
	var walk diff.Walker
	for raw := range bytes.Lines(patch) {
		whole := !walk.Inside()
		switch l := walk.Next(bytes.TrimSuffix(raw, []byte("\n"))); {
		case l.Sign == '@' && !whole:
			return nil
		case l.Sign == '@':
			all = append(all, region{Hunk: l.Hunk})
		case l.Sign != 0 && len(all) > 0:
			last := &all[len(all)-1]
			last.rows = append(last.rows, l.Raw)
		}
	}
	if walk.Inside() {
		return nil
	}
	return all
}

// fitting reports whether the head has the lines that the hunks claim.
func fitting(regions []region, lines [][]byte) bool {
	for _, r := range regions {
		if r.NewLines == 0 || r.OldLines == 0 { // the whole file was added or removed
			return false
		}
		at := r.NewStart
		for _, row := range r.rows {
			if row[0] != '+' && row[0] != ' ' {
				continue
			}
			if at > len(lines) || !bytes.Equal(lines[at-1], row[1:]) {
				return false
			}
			at++
		}
	}
	return true
}

// around returns the lines to show around a hunk: for each changed line, those of the block that contains it.
func (r region) around(innermost func(line int) (outline.Block, bool), lines [][]byte) []span {
	var spans []span
	at := r.NewStart
	for _, row := range r.rows {
		if row[0] == '+' || row[0] == '-' {
			if b, ok := innermost(min(at, len(lines))); ok {
				spans = append(spans, showing(b, at, lines)...)
			}
		}
		if row[0] == '+' || row[0] == ' ' {
			at++
		}
	}
	return spans
}

// describes matches a line that describes the code after it.
var describes = lazyregexp.New(`^\s*(?://|#|/?\*|--|@\w|"""|''')`)

// showing returns the lines of a block to show around one of its lines.
func showing(b outline.Block, at int, lines [][]byte) []span {
	first := b.Start
	for first > 1 && b.Start-first < aboveLines && describes.Match(lines[first-2]) {
		first--
	}
	if b.Lines() <= wholeLines {
		return []span{{first, b.End}}
	}
	return []span{{first, b.Body}, {max(b.Start, at-nearLines), min(b.End, at+nearLines)}}
}

// union joins spans that meet or nearly meet, in line order.
func union(spans []span) []span {
	const near = 3
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	joined := spans[:1]
	for _, s := range spans[1:] {
		if top := &joined[len(joined)-1]; s.first <= top.last+near {
			top.last = max(top.last, s.last)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// written returns the diff that shows these lines of the head. Each hunk lies within one of the spans.
func written(spans []span, regions []region, lines [][]byte) []byte {
	var out bytes.Buffer
	shift := regions[0].OldStart - regions[0].NewStart // from a line of the head to that of the base
	for _, s := range spans {
		var body bytes.Buffer
		added, removed := 0, 0
		start := s.first + shift
		for at := s.first; at <= s.last; {
			if len(regions) == 0 || regions[0].NewStart != at {
				fmt.Fprintf(&body, " %s\n", lines[at-1])
				at++
				continue
			}
			r := regions[0]
			for _, row := range r.rows {
				fmt.Fprintf(&body, "%s\n", row)
				switch row[0] {
				case '+':
					added++
				case '-':
					removed++
				}
			}
			at += r.NewLines
			shift += r.OldLines - r.NewLines
			regions = regions[1:]
		}
		size := s.last - s.first + 1
		fmt.Fprintf(&out, "%s\n%s", diff.Hunk{OldStart: start, OldLines: size - added + removed, NewStart: s.first, NewLines: size}.Header(),
			body.Bytes())
	}
	return out.Bytes()
}
