package guard

import (
	"slices"
	"strings"
)

// adopted reports whether a side configures a tool at all, be it by a section with
// nothing in it.
func adopted(s side, t *tool) bool {
	if s.path == "" || !matches(s.path, t.files...) {
		return false
	}
	if t.within == "" || t.within == "**" || strings.Contains(s.text, "["+t.within+"]") {
		return true
	}
	pattern := append(t.section(), "**")
	return slices.ContainsFunc(settings(s), func(one setting) bool { return keyMatches(pattern, one.key) })
}

// adoptedPart reports whether a side configures that part of a tool's which a setting
// belongs to.
func adoptedPart(s side, k known) bool {
	part := k.key[:min(len(k.tool.section()), len(k.key))]
	return strings.Contains(s.text, "["+strings.Join(part, ".")+"]") || slices.ContainsFunc(settings(s), func(one setting) bool {
		return len(one.key) >= len(part) && slices.Equal(one.key[:len(part)], part)
	})
}

// newElement reports whether a line lies in an element of a YAML list that is new.
func newElement(f *file, line int) bool {
	for at := line; at > 0; at-- {
		if text := f.new.at(at); isItem(text) && (at < line || yamlKey.MatchString(strings.TrimPrefix(text, "- "))) && indentation(f.new.lines[at-1]) < indentation(f.new.lines[line-1]) {
			return !slices.ContainsFunc(f.old.lines, func(l string) bool { return strings.TrimSpace(l) == text })
		}
	}
	return false
}
