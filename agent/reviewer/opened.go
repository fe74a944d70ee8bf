package reviewer

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"touchstone/agent/engine"
	"touchstone/agent/reviewer/change"
	"touchstone/verdict"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// opened are the files that a session's tools were called for.
type opened struct {
	dir   string // in which they are
	names map[string]bool
}

// within is what of the patches below a directory was opened: nothing so far.
func within(dir string) *opened {
	return &opened{dir: filepath.Base(dir), names: map[string]bool{}}
}

// note remembers what a call of a tool names. A pattern of a shell opens what it matches, if it
// stands with the directory.
func (o *opened) note(p engine.Progress) {
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

// pathLike is what can be a file's path in a sentence.
var pathLike = lazyregexp.New(`[\pL\pN_@+-][\pL\pN_./@+-]*\.[\pL\pN]+`)

// own adds to what a session says it examined the files of the checkout that it names there
// and called no tool for: a claim that costs nothing is believed no further than that. The
// changed files are not among them, which their patches show.
func (o *opened) own(dimensions []verdict.Examined, checkout string, changed []diff.File) {
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return
	}
	defer root.Close()
	shown := map[string]bool{}
	for _, f := range changed {
		shown[f.Path], shown[f.OldPath] = true, true
	}
	for i := range dimensions {
		var closed []string
		for _, name := range pathLike.FindAllString(dimensions[i].Examined, maxMentions) {
			info, err := root.Stat(filepath.FromSlash(name))
			if err == nil && info.Mode().IsRegular() && !shown[name] && !o.one(path.Base(name)) && !slices.Contains(closed, name) {
				closed = append(closed, name)
			}
		}
		if len(closed) > 0 {
			dimensions[i].Examined += " [named, but not opened: " + strings.Join(closed, ", ") + "]"
		}
	}
}

func (o *opened) one(name string) bool {
	if o.names[name] {
		return true
	}
	for pattern := range o.names { // as a shell matches, in one directory
		if matches, err := path.Match(pattern, name); err == nil && matches {
			return true
		}
	}
	return false
}
