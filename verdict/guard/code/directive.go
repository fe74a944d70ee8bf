package code

import (
	_ "embed"
	"slices"
	"strings"
)

// directive is how a tool is told in a comment to look away.
type directive struct {
	mark  string // in lower case, as the comment has it
	reach string // see directives.txt
}

//go:embed directives.txt
var directivesText string

// directivesBy are the directives of each language by their first letter.
var directivesBy = func() map[string]map[byte][]directive {
	out := map[string]map[byte][]directive{}
	for _, l := range languages {
		out[l.name] = map[byte][]directive{}
	}
	for line := range strings.Lines(directivesText) {
		fields := strings.SplitN(strings.TrimSpace(line), "; ", 3)
		if strings.HasPrefix(line, "#") || len(fields) < 3 {
			continue
		}
		for name, by := range out {
			if fields[0] != "all" && !slices.Contains(strings.Split(fields[0], ","), name) {
				continue
			}
			for mark := range strings.SplitSeq(fields[2], " | ") {
				by[mark[0]] = append(by[mark[0]], directive{mark, fields[1]})
			}
		}
	}
	return out
}()

// directiveOf is the longest directive that a text in lower case begins with.
func directiveOf(rest string, known map[byte][]directive) (best directive, ok bool) {
	if rest == "" {
		return best, false
	}
	for _, d := range known[rest[0]] {
		ends := len(rest) == len(d.mark) || len(rest) > len(d.mark) && !isWordByte(rest[len(d.mark)])
		if len(d.mark) > len(best.mark) && strings.HasPrefix(rest, d.mark) && ends {
			best, ok = d, true
		}
	}
	return best, ok
}

// lower writes the letters of ASCII small and leaves all other bytes, so that positions
// stay what they are.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
