package reviewer

import (
	"context"
	"strings"

	"touchstone/verdict"
)

const (
	// around is how many lines are shown above and below the code of a finding.
	around = 5
	// maxCompared bounds what is shown of one side, in bytes.
	maxCompared = 2_000
)

// compared shows the code of an earlier finding as the last round that found it saw it, and what stands there
// now. It is empty if either cannot be read.
func (s Subject) compared(ctx context.Context, e verdict.Entry) string {
	record, ok := s.Earlier[e.Last]
	if !ok || e.Path == "" || e.Line == 0 {
		return ""
	}
	then, err := s.at(ctx, record.Head)(e.Path)
	now, gone := s.at(ctx, s.Head)(e.Path)
	if err != nil || gone != nil {
		return ""
	}
	old, fresh := sameRegion(lines(then), lines(now), e)
	side := func(region []string) string {
		return clip(strings.Join(region, "\n"), maxCompared)
	}
	return "\nwhen it was found:\n" + side(old) + "\nnow:\n" + side(fresh)
}

func lines(text []byte) []string { return strings.Split(strings.TrimRight(string(text), "\n"), "\n") }

// sameRegion is the code of an entry in the old file with some lines around it, and the corresponding region
// of the new file. The region is matched by the nearest lines before and after the code that occur exactly
// once in the new file; if there is none, by the beginning or end of the file.
func sameRegion(then, now []string, e verdict.Entry) (old, fresh []string) {
	first, last := codeLines(then, e)
	places := make(map[string]int, len(now)) // -1 for a line that occurs again
	for i, line := range now {
		if _, again := places[line]; again {
			i = -1
		}
		places[line] = i
	}
	only := func(line string) int {
		if i, there := places[line]; there && verdict.OneLine(line) != "" {
			return i
		}
		return -1
	}
	from, begin := max(0, first-around), 0
	for i := first - 1; i >= 0; i-- {
		if at := only(then[i]); at >= 0 {
			begin = max(0, at-max(0, i-from))
			break
		}
	}
	to, end := min(len(then), last+1+around), len(now)
	for i := last + 1; i < len(then); i++ {
		if at := only(then[i]); at >= begin {
			end = min(len(now), at+1+max(0, to-1-i))
			break
		}
	}
	return then[from:to], now[begin:max(begin, end)]
}

// codeLines are the first and the last line, from 0, of an entry's code in a file. If there are several
// places, it is the one nearest to the entry's line.
func codeLines(file []string, e verdict.Entry) (first, last int) {
	code := strings.TrimSuffix(e.Code, "…")
	begins := func(i int) bool {
		line := verdict.OneLine(file[i])
		return line != "" && (strings.HasPrefix(code, line) || strings.Contains(line, code))
	}
	line := min(max(0, e.Line-1), len(file)-1)
	first = line
	for away := range len(file) {
		if i := line - away; i >= 0 && begins(i) {
			first = i
			break
		}
		if i := line + away; i < len(file) && begins(i) {
			first = i
			break
		}
	}
	last = first
	for held := len(verdict.OneLine(file[first])); held < len(code) && last < len(file)-1; last++ {
		held += 1 + len(verdict.OneLine(file[last+1]))
	}
	return first, last
}
