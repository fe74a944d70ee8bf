package reviewer

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"touchstone/agent/engine"
	"touchstone/agent/reviewer/change"
)

// opened are the patches that a session's tools were called for.
type opened struct {
	dir   string // in which they are
	names map[string]bool
}

// within is what of the patches below a directory was opened: nothing so far.
func within(dir string) *opened {
	return &opened{dir: filepath.Base(dir), names: map[string]bool{}}
}

// hear takes note of a call of a tool. A pattern of a shell opens what it matches, if it
// stands with the directory.
func (o *opened) hear(p engine.Progress) {
	if p.Kind != engine.ProgressTool {
		return
	}
	call := p.Text + " " + p.Target
	inside := strings.Contains(call, o.dir)
	for _, word := range strings.FieldsFunc(call, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_*?[]", r)
	}) {
		if inside || !strings.ContainsAny(word, "*?[") {
			o.names[word] = true
		}
	}
}

// all reports whether every patch of a file was opened. One without any has nothing to
// open.
func (o *opened) all(f change.File) bool {
	for _, patch := range f.Patches {
		if !o.one(filepath.Base(patch)) {
			return false
		}
	}
	return true
}

func (o *opened) one(name string) bool {
	if o.names[name] {
		return true
	}
	for pattern := range o.names {
		if matches, err := path.Match(pattern, name); err == nil && matches {
			return true
		}
	}
	return false
}
