package impact

import (
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// literals are the names in strings, keys and statements of the changed lines, with whether they were removed
// or added.
type literals map[string]*literal

type literal struct {
	Name
	removed, added bool
	exact          bool // it is written as a definite name, too
}

var (
	tag        = lazyregexp.New("\\b(?:json|yaml|toml|env|db|mapstructure|form|query|xml|bson):\"([\\w.-]{2,60})")
	graphMark  = lazyregexp.New(`@graph-[\w-]+\s+([\w./:{}-]{3,80})`)
	shellVar   = lazyregexp.New(`\$\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)`)
	settingKey = lazyregexp.New(`^\s*(?:-\s+|export\s+|ENV\s+|ARG\s+)?["']?([A-Za-z][\w.-]{2,60})["']?\s*[:=]`)
	table      = lazyregexp.New(`(?i)\b(?:create|alter|drop)\s+table\s+(?:if\s+(?:not\s+)?exists\s+)?["'\x60]?([\w.]{3,60})`)
	column     = lazyregexp.New(`(?i)\b(?:add|drop|rename|alter)\s+column\s+(?:if\s+(?:not\s+)?exists\s+)?["'\x60]?(\w{3,60})`)

	variable = lazyregexp.New(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`)
	flag     = lazyregexp.New(`^--[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	route    = lazyregexp.New(`^/(?:[\w{}:.*<>-]+/?)+$`)
	// compound matches a name of several words, which is unlikely to occur by chance: user.created,
	// request_count, x-request-id.
	compound = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*(?:[._:/-][A-Za-z0-9]+)+$`)
)

// marked are the names that a pattern finds in lines with a mark; searching for the mark is faster.
var marked = []struct {
	kind, mark string
	pattern    *lazyregexp.Regexp
}{{"setting", `:"`, tag}, {"name", "@graph-", graphMark}, {"variable", "$", shellVar}, {"table", "able", table}, {"table", "TABLE", table},
	{"column", "olumn", column}, {"column", "COLUMN", column}}

// importPath matches a line of Go's imports.
var importPath = lazyregexp.New(`^\s*(?:[\w.]+\s+)?"[^"]+"$`)

// settingFiles matches files whose keys others read.
var settingFiles = lazyregexp.New(`(?i)\.(?:ya?ml|toml|ini|cfg|conf|properties|json|env)$|(?:^|/)(?:\.env[\w.]*|Dockerfile[\w.]*)$`)

// collect finds the names in a file's changed lines.
func (l literals) collect(f diff.File, s worktree.Sides, lines lineChanges) {
	if strings.EqualFold(path.Ext(f.Path), ".md") || strings.EqualFold(path.Ext(f.Path), ".rst") {
		return
	}
	head := strings.Split(string(s.After), "\n")
	l.side(f, s.Before, strings.Split(string(s.Before), "\n"), head, lines.removed, true)
	l.side(f, s.After, head, head, lines.added, false)
}

// side finds the names in the changed lines of one side of a file.
func (l literals) side(f diff.File, content []byte, all, head []string, changed map[int]string, removed bool) {
	if len(changed) == 0 {
		return
	}
	var kept map[string]bool // the keys that a file of settings still has
	if removed && settingFiles.MatchString(f.Path) {
		kept = keysIn(head)
	}
	var columns map[int][]role
	if !settingFiles.MatchString(f.Path) {
		columns = columnsIn(string(content))
	}
	for _, at := range slices.Sorted(maps.Keys(changed)) {
		text := changed[at]
		l.line(f, at, text, removed)
		for _, c := range columns[at] {
			l.role(f, at, c, removed)
		}
		if at > len(all) || len(all[at-1]) > maxLine || comment.MatchString(text) && !strings.HasPrefix(strings.TrimSpace(text), "--") &&
			!derived.MatchString(all[max(0, at-2)]) {
			continue
		}
		for _, r := range roles(f, all, at) {
			if !kept[r.word] {
				l.role(f, at, r, removed)
			}
		}
	}
}

// role notes a name of one word by its role.
func (l literals) role(f diff.File, at int, r role, removed bool) {
	name := r.word
	if r.kind == "flag" {
		name = "--" + name
	}
	l.note(f, at, Name{Kind: r.kind, Name: name, In: r.in, word: r.word}, removed)
}

// note records a name of a changed line.
func (l literals) note(f diff.File, at int, n Name, removed bool) {
	id := n.Name
	if n.word != "" && n.Kind != "flag" {
		id = n.Kind + " " + n.In + "." + n.word
	}
	known := l[id]
	if known == nil {
		n.Path, n.Line, n.first, n.last, n.old = f.Path, at, at, at, removed
		known = &literal{Name: n}
		l[id] = known
	}
	if known.exact = known.exact || n.word == ""; known.exact {
		known.word = ""
	}
	if removed {
		known.removed = true
		return
	}
	known.added = true
	if known.old || known.Line > at && known.Path == f.Path {
		known.Path, known.Line, known.first, known.last, known.old = f.Path, at, at, at, false
	}
}

func (l literals) line(f diff.File, at int, text string, removed bool) {
	if len(text) > 1000 || comment.MatchString(text) && !strings.Contains(text, "@graph-") {
		return
	}
	note := func(kind, name string) { l.note(f, at, Name{Kind: kind, Name: name}, removed) }
	for _, name := range flagsIn(text) {
		note("flag", name)
	}
	for _, group := range marked {
		if !strings.Contains(text, group.mark) {
			continue
		}
		for _, m := range group.pattern.FindAllStringSubmatch(text, 5) {
			note(group.kind, m[1])
		}
	}
	if settingFiles.MatchString(f.Path) {
		if m := settingKey.FindStringSubmatch(text); m != nil && (compound.MatchString(m[1]) || variable.MatchString(m[1])) {
			note("setting", m[1])
		}
		return
	}
	if !strings.ContainsAny(text, "\"'`") || imported(text) || strings.HasSuffix(f.Path, ".go") && importPath.MatchString(text) {
		return
	}
	for at, end := range stringsIn(text) {
		switch name := text[at+1 : end]; {
		case len(name) < 3 || len(name) > 80:
		case variable.MatchString(name):
			note("variable", name)
		case flag.MatchString(name):
			note("flag", name)
		case route.MatchString(name):
			note("route", name)
		case compound.MatchString(name):
			note("name", name)
		}
	}
}

// names returns the names that were removed or added. A name on both sides is unchanged.
func (l literals) names() []Name {
	var all []Name
	for _, name := range slices.Sorted(maps.Keys(l)) {
		n := l[name]
		if n.removed == n.added || n.added && n.word != "" && n.Kind != "topic" && n.Kind != "metric" {
			continue // what has a new word of another kind already is hardly ever about it
		}
		n.How = Added
		if n.removed {
			n.How = Removed
		}
		all = append(all, n.Name)
	}
	return all
}
