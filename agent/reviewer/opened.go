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
	dir   string // the name of the directory in which the patches are
	calls []call
	// before counts the calls of earlier turns whose results the session does not see any more.
	before int
}

// call is a tool call that has not failed.
type call struct {
	text, target string
	// names are the last elements of the paths in it, and inside those of them that are files of the directory.
	names, inside []string
}

// within starts a record for the patches below a directory.
func within(dir string) *opened { return &opened{dir: filepath.Base(dir)} }

// searching are the engines' names of tools that list or search files, in lower case; listing of those that only list.
var (
	searching = append(listing, "grep", "search")
	listing   = []string{"glob", "list"}
)

// slashed turns paths of Windows, and variables of a shell in braces, into paths that read alike.
var slashed = strings.NewReplacer(`\`, "/", "${", "$", "}/", "/")

// note records the paths in a tool call. A name, or a shell pattern, without a directory or in one that a shell's variable
// holds is of the directory if the call also names that. A tool that lists files opens none, and neither does the pattern
// of a search, since it shows no more than names and single lines.
func (o *opened) note(p engine.Progress) {
	switch p.Kind {
	case engine.ProgressSwitch: // what the model before it opened, this one has not seen
		o.calls, o.before = nil, 0
	case engine.ProgressAnew:
		o.before = len(o.calls)
	case engine.ProgressFailed:
		for i, c := range slices.Backward(o.calls) {
			if c.text == p.Text && c.target == p.Target {
				o.calls = slices.Delete(o.calls, i, i+1)
				return
			}
		}
	case engine.ProgressTool:
		o.calls = append(o.calls, o.read(p))
	}
}

func (o *opened) read(p engine.Progress) call {
	c := call{text: p.Text, target: p.Target}
	tool, _, _ := strings.Cut(strings.ToLower(p.Text), " ")
	search, lists := slices.Contains(searching, tool), slices.Contains(listing, tool)
	words := strings.FieldsFunc(slashed.Replace(p.Text+" "+p.Target), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("./-_*?[]$", r)
	})
	for i, word := range words {
		words[i] = path.Clean(word)
	}
	named := slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == o.dir })
	for _, word := range words {
		dir, name := path.Split(word)
		if pattern := strings.ContainsAny(name, "*?["); pattern && search {
			continue
		}
		c.names = append(c.names, name)
		if !lists && (path.Base(dir) == o.dir || named && (dir == "" || dir[0] == '$')) {
			c.inside = append(c.inside, name)
		}
	}
	return c
}

// all reports whether every patch of a file was opened. For a file without patches it is true.
func (o *opened) all(f change.File) bool {
	return !slices.ContainsFunc(f.Patches, func(patch string) bool { return !o.one(patch) })
}

// one reports whether a file of the directory was opened, and the session still sees it.
func (o *opened) one(file string) bool {
	return slices.ContainsFunc(o.calls[o.before:], func(c call) bool { return matched(c.inside, filepath.Base(file)) })
}

// called reports whether any tool was called with a file of this name.
func (o *opened) called(name string) bool {
	return slices.ContainsFunc(o.calls, func(c call) bool { return matched(c.names, name) })
}

// shows records that a file that was opened shows code of others.
func (o *opened) shows(files []string) {
	var c call
	for _, file := range files {
		c.names = append(c.names, path.Base(file))
	}
	o.calls = append(o.calls, c)
}

// matched reports whether one of the names or patterns stands for a name, as in a shell.
func matched(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, name)
		return pattern == name || err == nil && matches
	})
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
			if err == nil && info.Mode().IsRegular() && !shown[name] && !o.called(path.Base(name)) && !slices.Contains(closed, name) {
				closed = append(closed, name)
			}
		}
		if len(closed) > 0 {
			dimensions[i].Examined += " [named, but not opened: " + strings.Join(closed, ", ") + "]"
		}
	}
}
