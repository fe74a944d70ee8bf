// Package tools compares how the tools that check code are configured before and after a
// change: linters, type checkers, compilers, test runners and coverage. One file per tool
// says which settings it has and which way is weaker; the comparison here is the same for
// all, of values and not of lines. It also compares who owns and approves what. It does no
// I/O.
//
// To add a tool, write one file in settings; registry.go says in what form.
package tools

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

// Tool is what the guard knows of one tool's configuration.
type Tool struct {
	// Name is how its rules are called, such as "ruff" for "ruff/ignored".
	Name string
	// Sources are the files that it reads. A setting is the same in any of them.
	Sources []source
	// Settings are what can be set, the first that fits a key counts.
	Settings []Setting
	// Aliases are other names of rules, and those that took a rule's place.
	Aliases map[string]string
	// Plain writes a rule's name as all of its spellings are compared; nil for as it is.
	Plain func(name string) string
	// Nearest says that it takes only the nearest of several configurations.
	Nearest bool
	// Prefixes says that its lists choose rules by the beginning of their names.
	Prefixes bool
	// Leaves says that its configuration only says what is left out, so that a new one checks less.
	Leaves bool
	// Runs tells whether the tool checked a rule before, of which a list is new that leaves
	// it out; nil where that is not known.
	Runs func(before map[string]bool, rule string) bool
	// Scope is a key beside a rule's that limits it to some files, "" if there is none.
	Scope string
}

// source is files, by patterns of a base name or, with a slash, of a path, and the parts of them that
// are a tool's, as patterns of keys; "-" is the whole.
type source struct{ files, within []string }

// has reports whether a file of this name is one of a source.
func (s source) has(name string) bool {
	return slices.ContainsFunc(s.files, func(pattern string) bool { return Fits(pattern, name) })
}

// Setting is a setting, or a list of them.
type Setting struct {
	// Keys is a pattern of keys, divided by slashes: "*" within a key stands for anything,
	// "**" for any number of keys, "[]" for an element of a list, and "a|b" for a or b.
	Keys string
	Way  Way
	// Implied is a key that, when it is on, makes this one's absence harmless.
	Implied string
	// Beside is a key beside which this one is no more than suspected.
	Beside string
	// Default is the value that is meant where there is none, "" if that is not known.
	Default string
	// Only chooses the elements of a list that count; nil for all.
	Only func(element string) bool
}

// Way is how a setting can get weaker, and what is said of it.
type Way int

// The ways. Numbers are thresholds; the others are strictness.
const (
	Floor     Way = iota // a number that has to be reached: lower is weaker
	Ceiling              // a number that may not be passed: higher is weaker
	On                   // a switch that makes the tool stricter
	Off                  // a switch that makes it milder
	Grade                // off, warning, error: lower is weaker
	Rules                // a list of rules that are checked
	Ignored              // a list of rules that are not
	Excluded             // a list of files or lines that are left out: evidence alone
	Included             // a list of files that are looked at: evidence alone
	Uncounted            // a list of patterns of lines that coverage does not count: evidence alone
	Skipped              // a list of tests that do not run
)

// Examines reports whether a file of this name configures a tool or says who decides.
func Examines(name string) bool { return isPolicy(name) || len(toolsOf(name)) > 0 }

// fixtures are folders of data that tests read; what lies there configures nothing.
var fixtures = []string{"testdata", "fixtures", "__fixtures__", "test-data"}

func toolsOf(name string) (out []*Tool) {
	if slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(fixtures, dir) }) {
		return nil
	}
	for _, t := range registry {
		if slices.ContainsFunc(t.Sources, func(s source) bool { return s.has(name) }) {
			out = append(out, t)
		}
	}
	return out
}

// Fits reports whether a file has a name by the lists of this package and of guard, in the grammar of
// [path.Match]: a pattern without a slash is of the base name. What another format says of patterns, such
// as CODEOWNERS, is read by that one's rules.
func Fits(pattern, name string) bool {
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// value is one setting of one tool as a file has it.
type value struct {
	setting *Setting
	key     string // relative to the tool's part of the file
	text    string
	file    string
	line    int
	scoped  bool // it holds for some files only
}

// part is a tool's configuration in one directory, from all files there.
type part struct {
	values map[string]value   // by key: numbers, switches and grades
	lists  map[string][]value // by key: the elements of lists
	there  bool
	based  bool            // on another configuration, which is not read
	files  map[string]bool // those that it was read from
}

// read adds what a file says of a tool; name is what its side calls it.
func (p *part) read(t *Tool, name, file string, root *doc.Node) {
	var within []string
	for _, s := range t.Sources {
		if s.has(name) {
			within = append(within, s.within...)
		}
	}
	for _, w := range within {
		var pattern []string
		if w != "-" {
			pattern = strings.Split(w, "/")
		}
		visit(root, nil, nil, func(n *doc.Node, keys []string, parents []*doc.Node) {
			rest, prefix, ok := cut(pattern, keys)
			if !ok {
				return
			}
			p.there, p.files[file] = true, true
			p.based = p.based || len(rest) == 1 && slices.Contains(bases, rest[0])
			if len(rest) > 0 {
				p.take(t, file, n, prefix, rest, parents)
			}
		})
	}
}

// bases are keys that name a configuration on which one is based.
var bases = []string{"extends", "inherit_from", "inherit_gem", "include"}

// cut takes a tool's part away from a path of keys; what its pattern leaves open stays in
// prefix.
func cut(pattern, keys []string) (rest []string, prefix string, ok bool) {
	if len(keys) < len(pattern) {
		return nil, "", false
	}
	for i, p := range pattern {
		if !alternatives(p, keys[i]) {
			return nil, "", false
		}
		if strings.Contains(p, "*") {
			prefix += keys[i] + "/"
		}
	}
	return keys[len(pattern):], prefix, true
}

func (p *part) take(t *Tool, file string, n *doc.Node, prefix string, keys []string, parents []*doc.Node) {
	for i := range t.Settings {
		s := &t.Settings[i]
		if !matches(strings.Split(s.Keys, "/"), keys) {
			continue
		}
		v := value{setting: s, key: prefix + strings.Join(keys, "/"), file: file, line: n.Line}
		if t.Scope != "" {
			for _, parent := range parents {
				if scope := parent.Get(t.Scope); scope != nil {
					v.scoped, v.key = true, v.key+" for "+strings.Join(scope.Strings(), ",")
				}
			}
		}
		switch s.Way {
		case Rules, Ignored, Excluded, Included, Uncounted, Skipped:
			p.list(n, v)
		case Grade:
			if v.text = gradeText(n); v.text != "" {
				p.values[v.key] = v
			}
		default:
			if n.Kind == doc.Scalar {
				v.text = n.Value
				p.values[v.key] = v
			}
		}
		return
	}
}

// optionFloor is a limit among the options in a list.
var optionFloor = &Setting{Way: Floor}

// list adds the elements of a list, or of a text that is one.
func (p *part) list(n *doc.Node, v value) {
	v.key = strings.TrimSuffix(v.key, "/[]")
	add := func(text string, line int) {
		if name, number, ok := strings.Cut(text, "fail-under="); ok && v.setting.Way == Rules {
			floor := v
			floor.setting, floor.key, floor.text = optionFloor, v.key+"/"+name+"fail-under", strings.Trim(number, `"'`)
			p.values[floor.key] = floor
			return
		}
		if text = strings.TrimSpace(text); text != "" && (v.setting.Only == nil || v.setting.Only(text)) {
			one := v
			one.text, one.line = text, line
			p.lists[v.key] = append(p.lists[v.key], one)
		}
	}
	for _, item := range n.Items {
		switch id := item.Text("id"); {
		case n.Kind != doc.List:
		case item.Kind == doc.Scalar:
			add(item.Value, item.Line)
		case id != "" && v.setting.Way == Ignored:
			add(id, item.Line)
		}
	}
	if n.Kind == doc.Scalar {
		whole := v.setting.Way == Uncounted || v.setting.Way == Skipped // which may have spaces
		divides := func(r rune) bool { return r == '\n' || !whole && strings.ContainsRune(",;\t ", r) }
		for _, text := range strings.FieldsFunc(n.Value, divides) {
			add(text, n.Line)
		}
	}
}

// visit calls f for every node with the keys and nodes that lead to it.
func visit(n *doc.Node, keys []string, parents []*doc.Node, f func(n *doc.Node, keys []string, parents []*doc.Node)) {
	f(n, keys, parents)
	parents = append(slices.Clip(parents), n)
	for _, item := range n.Items {
		key := item.Key
		if n.Kind == doc.List {
			key = "[]"
		}
		visit(item, append(slices.Clip(keys), key), parents, f)
	}
}

// matches matches a path of keys.
func matches(pattern, keys []string) bool {
	if len(pattern) == 0 {
		return len(keys) == 0
	}
	if pattern[0] == "**" {
		return matches(pattern[1:], keys) || len(keys) > 0 && matches(pattern, keys[1:])
	}
	return len(keys) > 0 && alternatives(pattern[0], keys[0]) && matches(pattern[1:], keys[1:])
}

func alternatives(pattern, key string) bool {
	return slices.ContainsFunc(strings.Split(pattern, "|"), func(p string) bool {
		before, after, star := strings.Cut(p, "*")
		if !star {
			return strings.EqualFold(p, key)
		}
		return len(key) >= len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after)
	})
}

// Compare finds the settings that got weaker.
func Compare(files []change.File) []change.Finding {
	c := &comparison{parts: map[string]*pair{}, newer: map[string]bool{}, files: files}
	for _, f := range files {
		c.read(f)
	}
	slices.Sort(c.order)
	for _, id := range c.order {
		c.compare(c.parts[id])
	}
	return append(c.found, policies(files)...)
}

// pair is a tool's configuration in a directory before and after.
type pair struct {
	tool          *Tool
	dir           string
	before, after part
}

type comparison struct {
	files []change.File
	parts map[string]*pair
	order []string
	newer map[string]bool // tools of which the change brings another version, as far as was asked
	found []change.Finding
}

func (c *comparison) read(f change.File) {
	before, after := toolsOf(f.OldPath), toolsOf(f.Path)
	if len(before)+len(after) == 0 {
		return
	}
	old, oldErr := parse(f.OldPath, f.Before, len(before) > 0)
	now, nowErr := parse(f.Path, f.After, len(after) > 0)
	if nowErr != nil && (oldErr == nil || string(f.Before) != string(f.After)) {
		tier := change.Evidence
		if old != nil {
			tier = change.Hold
		}
		why, _, _ := strings.Cut(nowErr.Error(), "\n")
		c.found = append(c.found, change.Finding{Tier: tier, Kind: change.Unexamined, Rule: "tools/unread",
			Why: "This configuration cannot be read, so what it asks for is not known: " + why, Place: change.Place{Path: f.Name()}})
		return
	}
	for _, t := range registry {
		if slices.Contains(before, t) && old != nil {
			p := c.pair(t, path.Dir(f.Name()))
			p.before.read(t, f.OldPath, f.Name(), old)
		}
		if slices.Contains(after, t) && now != nil {
			p := c.pair(t, path.Dir(f.Name()))
			p.after.read(t, f.Path, f.Name(), now)
		}
	}
}

func parse(name string, content []byte, wanted bool) (*doc.Node, error) {
	if !wanted || content == nil {
		return nil, nil
	}
	return doc.Parse(name, content)
}

func (c *comparison) pair(t *Tool, dir string) *pair {
	id := t.Name + "\x00" + dir
	if c.parts[id] == nil {
		empty := func() part {
			return part{values: map[string]value{}, lists: map[string][]value{}, files: map[string]bool{}}
		}
		c.parts[id] = &pair{t, dir, empty(), empty()}
		c.order = append(c.order, id)
	}
	return c.parts[id]
}

func (c *comparison) add(p *pair, tier change.Tier, rule string, v value, was, is, why string) {
	kind := change.Strictness
	if v.setting.Way <= Ceiling {
		kind = change.Threshold
	}
	c.found = append(c.found, change.Finding{Tier: tier, Kind: kind, Rule: p.tool.Name + "/" + rule,
		Why:   fmt.Sprintf("%s: %s", p.tool.Name, why),
		Place: change.Place{Path: v.file, Line: v.line, Before: was, After: is}})
}

// Rivals reports whether two files configure the same tool, of which it takes only one.
func Rivals(name, other string) bool {
	return slices.ContainsFunc(toolsOf(name), func(t *Tool) bool {
		return slices.ContainsFunc(toolsOf(other), func(o *Tool) bool { return o.Name == t.Name && t.Nearest })
	})
}
