package impact

import (
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/verdict"
)

// Alike is code of the same shape as a line that the change removes or replaces: a guard that still stands
// elsewhere, or another instance of the same defect.
type Alike struct {
	// Path, Line and Text describe the removed line, before the change.
	Path   string  `json:"path"`
	Line   int     `json:"line"`
	Text   string  `json:"text"`
	Places []Place `json:"places"`
	More   int     `json:"more,omitempty"`

	shape string
	words []word
}

const (
	// maxShapes bounds the removed lines for which similar code is searched, maxAlike the places shown for
	// one line, and widespread the files that may contain a line's words.
	maxShapes  = 12
	maxAlike   = 5
	widespread = 40
)

// shapes returns the removed lines of a file for which similar code is meaningful: lines with enough content
// to be no coincidence, and that the change does not write again.
func shapes(file string, lines lineChanges) []Alike {
	written := map[string]bool{}
	for _, text := range lines.added {
		written[verdict.OneLine(text)] = true
	}
	var all []Alike
	for _, at := range slices.Sorted(maps.Keys(lines.removed)) {
		text := lines.removed[at]
		if len(text) > maxLine || comment.MatchString(text) || imported(text) || importPath.MatchString(text) || written[verdict.OneLine(text)] {
			continue
		}
		if _, defines := outline.Begins(file, text); defines {
			continue
		}
		a := Alike{Path: file, Line: at, Text: verdict.Clip(strings.TrimSpace(text), maxText)}
		if a.shape, a.words = shapeOf(text); a.shape != "" {
			all = append(all, a)
		}
	}
	return all
}

// shapeOf returns a line with each name of its own replaced by a blank. Names that the line calls, accesses
// on a value, or writes like a type stay; kept contains these names. The result is empty if too little of the
// line would be left to distinguish it from others.
func shapeOf(line string) (shape string, kept []word) {
	if strings.Contains(line, "//") || strings.Contains(line, "# ") {
		line = trailing.ReplaceAllString(line, "")
	}
	var b strings.Builder
	var letters int
	for at := 0; at < len(line); {
		c := line[at]
		if !wordByte[c] {
			if c != ' ' && c != '\t' && c != '\r' && c != ';' {
				b.WriteByte(c)
			}
			at++
			continue
		}
		end := at
		for end < len(line) && wordByte[line[end]] {
			end++
		}
		name := line[at:end]
		asked := at > 0 && (line[at-1] == '.' || line[at-1] == '>' || line[at-1] == ':')
		called := end < len(line) && (line[end] == '(' || line[end] == '!')
		switch {
		case len(name) > 2 && (asked || called || typeLike(name) || constant.MatchString(name)) && !statement[name]:
			kept = append(kept, hash(name))
			letters += len(name)
			fallthrough
		case statement[name] || c <= '9':
			b.WriteString(" " + name + " ")
		default:
			b.WriteString("_")
		}
		at = end
	}
	slices.Sort(kept)
	if kept = slices.Compact(kept); len(kept) < 2 || letters < 12 {
		return "", nil
	}
	return b.String(), kept
}

// alike finds code with the shape of removed lines.
func (f *finder) alike() ([]Alike, error) {
	shapes := f.change.shapes
	queries := make([][]word, len(shapes))
	for i, s := range shapes {
		queries[i] = s.words
	}
	wanted := map[int][]int{}
	for i, holding := range f.index.holding(queries) {
		near := slices.DeleteFunc(slices.Clone(holding), func(entry int) bool {
			p := f.index.entries[entry].Path
			return family(p) != family(shapes[i].Path) || f.kind(p) == "test"
		})
		if len(near) > widespread {
			continue
		}
		for _, entry := range near {
			wanted[entry] = append(wanted[entry], i)
		}
	}
	err := read(f, wanted, func(sought []int, file, _ string, lines []string) {
		around := outline.SurroundingsOf(file, lines)
		for at, line := range lines {
			if len(line) > maxLine || len(line) < 12 {
				continue
			}
			if _, added := f.change.added[file][at+1]; added {
				continue
			}
			shape, _ := shapeOf(line)
			for _, i := range sought {
				s := &shapes[i]
				if shape != s.shape {
					continue
				}
				p := Place{Path: file, Line: at + 1, What: "alike", Function: around.Around(at),
					Text: verdict.Clip(strings.TrimSpace(line), maxText)}
				if path.Dir(file) == path.Dir(s.Path) {
					p.rank = 1
				}
				s.Places = append(s.Places, p)
			}
		}
	})
	var found []Alike
	for _, s := range shapes {
		if len(s.Places) == 0 || slices.ContainsFunc(found, func(o Alike) bool { return o.shape == s.shape }) {
			continue
		}
		slices.SortStableFunc(s.Places, func(a, b Place) int { return b.rank - a.rank })
		if s.More = max(0, len(s.Places)-maxAlike); s.More > 0 {
			s.Places = s.Places[:maxAlike]
		}
		found = append(found, s)
	}
	return found, err
}
