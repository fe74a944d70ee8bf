package reviewer

import (
	"cmp"
	"slices"
	"strings"

	"touchstone/verdict"
)

// patched is the new text of the finding's lines according to a unified diff of one hunk. The diff must
// change only these lines, and its context must match: only then can it become a GitHub suggestion. Result ok
// is false for any other diff.
func patched(f verdict.Finding, head []byte) (text string, ok bool) {
	lines := strings.Split(string(head), "\n")
	start := cmp.Or(f.StartLine, f.Line)
	if start < 1 || f.Line > len(lines) || len(f.Suggestion) > 2*maxField {
		return "", false
	}
	before, after, lead, trail, ok := hunk(f.Suggestion)
	if !ok {
		return "", false
	}
	same := func(a, b string) bool { return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r") }
	for above := range lead + 1 {
		first := start - 1 - above
		below := len(before) - above - (f.Line - start + 1)
		if first < 0 || below < 0 || below > trail || first+len(before) > len(lines) ||
			!slices.EqualFunc(before, lines[first:first+len(before)], same) {
			continue
		}
		text = strings.Join(after[above:len(after)-below], "\n")
		return text, strings.TrimSpace(text) != ""
	}
	return "", false
}

// hunk is the only hunk of a unified diff: its lines before and after, and how many lines at its beginning
// and at its end are equal in both. Package diff goes by the counts in a hunk's header. Those of a model are often
// wrong, so here each line counts that follows, and [patched] compares it with the file. See
// https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html.
func hunk(diff string) (before, after []string, lead, trail int, ok bool) {
	inside, changed := false, false
	for line := range strings.SplitSeq(strings.Trim(diff, "\r\n"), "\n") {
		sign, rest := " ", ""
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			sign, rest = line[:1], line[1:]
		}
		switch {
		case strings.HasPrefix(line, "@@ "):
			if inside {
				return nil, nil, 0, 0, false
			}
			inside = true
		case !inside || sign == `\`: // file names; a missing newline at the end
		case sign == " ":
			before, after = append(before, rest), append(after, rest)
			if trail++; !changed {
				lead++
			}
		case sign == "-":
			before, changed, trail = append(before, rest), true, 0
		case sign == "+":
			after, changed, trail = append(after, rest), true, 0
		default:
			return nil, nil, 0, 0, false
		}
	}
	return before, after, lead, trail, changed
}
