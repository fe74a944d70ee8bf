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

// opened records the files that the tool calls of a session's present model named.
type opened struct {
	dir   string // in which they are
	names map[string]bool
}

// within starts a record for the patches below a directory.
func within(dir string) *opened {
	return &opened{dir: filepath.Base(dir), names: map[string]bool{}}
}

// searching are the engines' names of tools that list or search files, in lower case.
var searching = []string{"glob", "grep", "list", "search"}

// note records the names in a tool call. A shell pattern counts as opening what it matches, if the call also
// names the directory; that of a search does not, since it shows no more than names and single lines.
func (o *opened) note(p engine.Progress) {
	if p.Kind == engine.ProgressSwitch { // what the model before it opened, this one has not seen
		clear(o.names)
	}
	if p.Kind != engine.ProgressTool {
		return
	}
	call := p.Text + " " + p.Target
	tool, _, _ := strings.Cut(strings.ToLower(p.Text), " ")
	inside := strings.Contains(call, o.dir) && !slices.Contains(searching, tool)
	for _, word := range strings.FieldsFunc(call, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_*?[]", r)
	}) {
		if inside || !strings.ContainsAny(word, "*?[") {
			o.names[word] = true
		}
	}
}

// all reports whether every patch of a file was opened. For a file without patches it is true.
func (o *opened) all(f change.File) bool {
	return !slices.ContainsFunc(f.Patches, func(patch string) bool { return !o.one(filepath.Base(patch)) })
}

// pathLike matches what can be a file's path in a sentence.
var pathLike = lazyregexp.New(`[\pL\pN_@+-][\pL\pN_./@+-]*\.[\pL\pN]+`)

// own marks, in what a session says it examined, the files of the checkout that it names but never opened
// with a tool: such a claim costs nothing. Changed files are not marked, since their patches show them.
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
	for pattern := range o.names { // matches like a shell, within one directory
		if matches, err := path.Match(pattern, name); err == nil && matches {
			return true
		}
	}
	return false
}
