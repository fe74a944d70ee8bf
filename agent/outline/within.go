package outline

import (
	"slices"
	"strings"

	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// comment begins a comment that can have several lines.
const comment = "/*"

// quotes begin and end a string that can have several lines.
var quotes = []string{`"""`, "'''", "`"}

// heredoc matches the beginning of a string that ends with a word, such as in PHP and Ruby.
var heredoc = lazyregexp.New(`<<[<~-]['"]?([A-Z_]+)\b`)

// maxHeredoc bounds the lines in which the end of a string is searched for. Without its end there is no string; the
// search for it in all of a file, for each line of the file, could take minutes.
const maxHeredoc = 1000

// within returns the comment or the end of the string that is open after a line, given what was open before. It
// does not see the multi-line strings of C# and Rust, and takes a quote in a comment behind code for a string.
func (p *indentation) within(at int, open string) string {
	text := strings.TrimSpace(p.lines[at])
	if open == comment || open == "" && strings.HasPrefix(text, comment) {
		if strings.Contains(text, "*/") {
			return ""
		}
		return comment
	}
	if open != "" && !slices.Contains(quotes, open) {
		if strings.HasPrefix(text, open) {
			return ""
		}
		return open
	}
	if m := heredoc.FindStringSubmatch(text); m != nil && open == "" && slices.ContainsFunc(
		p.lines[at+1:min(at+1+maxHeredoc, len(p.lines))],
		func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), m[1]) }) {
		return m[1]
	}
	for _, quote := range quotes {
		if quote == "`" && (p.language != filekind.JavaScript || open == "" && (strings.HasPrefix(text, "//") || strings.HasPrefix(text, "*"))) {
			continue
		}
		if (open == "" || open == quote) && strings.Count(text, quote)%2 == 1 {
			if open == "" {
				return quote
			}
			return ""
		}
	}
	return open
}
