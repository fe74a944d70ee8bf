package impact

import (
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/worktree"
	"touchstone/worktree/lazyregexp"
)

// literals are the names in strings, keys and statements of the changed lines, with the sides that have them.
type literals map[string]*literal

type literal struct {
	Name
	removed, added bool
}

// side is a side of a file whose changed lines are searched for literals.
type side struct {
	literals
	file    string
	removed bool
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
func (l literals) collect(file string, s worktree.Sides, lines lineChanges) {
	if strings.EqualFold(path.Ext(file), ".md") || strings.EqualFold(path.Ext(file), ".rst") {
		return
	}
	var kept map[string]bool // the keys that a file of settings still has
	if settingFiles.MatchString(file) && len(lines.removed) > 0 {
		kept = keysIn(strings.Split(string(s.After), "\n"))
	}
	side{l, file, true}.collect(string(s.Before), lines.removed, kept)
	side{l, file, false}.collect(string(s.After), lines.added, nil)
}

func (s side) collect(text string, changed map[int]string, kept map[string]bool) {
	if len(changed) == 0 {
		return
	}
	all := strings.Split(text, "\n")
	var columns map[int][]Name
	if !settingFiles.MatchString(s.file) {
		columns = columnsIn(text)
	}
	for _, at := range slices.Sorted(maps.Keys(changed)) {
		line := changed[at]
		s.line(at, line)
		for _, n := range columns[at] {
			s.note(at, n)
		}
		if at > len(all) || len(all[at-1]) > maxLine || comment.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "--") &&
			!derived.MatchString(all[max(0, at-2)]) {
			continue
		}
		for _, n := range roles(s.file, all, at) {
			if !kept[n.word] {
				s.note(at, n)
			}
		}
	}
}

// note records a name of a changed line. One that is written as a definite name, too, is no name of one word.
func (s side) note(at int, n Name) {
	id := n.Name
	if n.word != "" && n.Kind != "flag" {
		id = n.Kind + " " + n.In + "." + n.word
	}
	known := s.literals[id]
	if known == nil {
		n.Path, n.Line, n.first, n.last = s.file, at, at, at
		known = &literal{Name: n}
		s.literals[id] = known
	}
	if n.word == "" {
		known.word = ""
	}
	known.removed, known.added = known.removed || s.removed, known.added || !s.removed
}

// line notes the definite names in a changed line.
func (s side) line(at int, text string) {
	if len(text) > 1000 || comment.MatchString(text) && !strings.Contains(text, "@graph-") {
		return
	}
	note := func(kind, name string) { s.note(at, Name{Kind: kind, Name: name}) }
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
	if settingFiles.MatchString(s.file) {
		if m := settingKey.FindStringSubmatch(text); m != nil && (compound.MatchString(m[1]) || variable.MatchString(m[1])) {
			note("setting", m[1])
		}
		return
	}
	if !strings.ContainsAny(text, "\"'`") || imported(text) || strings.HasSuffix(s.file, ".go") && importPath.MatchString(text) {
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
