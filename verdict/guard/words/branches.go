package words

import (
	"regexp"
	"slices"
)

// branches reports whether a line makes another one depend on something, or ends well. One in a block that is new itself is about
// new lines only.
func (a alteration) branches(v value) bool {
	added := slices.ContainsFunc(a.fresh, func(o value) bool { return o.line == v.within }) && a.closed(v)
	return branch.MatchString(v.text) && (!added || ends.MatchString(v.text))
}

// closed reports whether what a new line begins ends before a line that was there before, however these are indented.
func (a alteration) closed(v value) bool {
	depth := 0
	for _, next := range a.now[slices.Index(a.now, v):] {
		switch {
		case closing.MatchString(next.text):
			depth--
		case !slices.Contains(a.fresh, next):
			return false
		case opening.MatchString(next.text):
			depth++
		}
		if depth <= 0 && !joined.MatchString(next.text) {
			return true
		}
	}
	return true
}

var (
	// opening and closing match lines that begin and end a block of a script or of CMake, joined those to which the next one belongs.
	opening = regexp.MustCompile(`(?i)^(?:if|ifn?(?:eq|def)|unless|for|foreach|while|until|case)\b|\{$`)
	closing = regexp.MustCompile(`(?i)^(?:fi|done|esac|end\w*|\})(?:\W|$)`)
	joined  = regexp.MustCompile(`(?:\||&&|\b(?:then|do|else))$`)
)
