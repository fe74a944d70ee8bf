// Package tools compares the configurations of the tools that check code before and after a change: linters,
// type checkers, compilers, test runners and coverage. One file per tool lists its settings and which way is
// weaker. The comparison here is the same for all tools, and compares values and not lines. Package tools
// also compares who owns and approves what. It does no I/O.
//
// To add a tool, write one file in settings; registry.go describes its form.
package tools

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

// Tool is what the guard knows about one tool's configuration.
type Tool struct {
	// Name is the prefix of the guard's rules for the tool, such as "ruff" for "ruff/ignored".
	Name string
	// Sources are the files that the tool reads. A setting means the same in any of them.
	Sources []source
	// Settings are the tool's settings. The first one that matches a key applies.
	Settings []Setting
	// Aliases are other names of rules, and the names of rules that replaced a rule.
	Aliases map[string]string
	// Plain converts a rule's name to the one spelling that is compared; nil to keep the name.
	Plain func(name string) string
	// Nearest says that the tool uses only the nearest of several configurations.
	Nearest bool
	// Prefixes says that the tool's lists choose rules by the beginning of their names.
	Prefixes bool
	// Leaves says that the configuration only excludes things, so that a new one checks less.
	Leaves bool
	// Runs reports whether the tool checked before what a new element of a list excludes; nil if unknown.
	Runs func(before map[string]bool, v value) bool
	// Comes matches what says which version of the tool runs: its name, or that of what it comes with.
	Comes *regexp.Regexp
	// Rival matches what pipelines use of other services that do the same; nil if none is known.
	Rival *regexp.Regexp
	// Scope is a key beside a rule's key that limits the rule to some files, "" if there is none.
	Scope string
	// Named is the path of the key that names the rule that it is in: the rule's name takes the place of its own key. Behind a "|" is
	// one that tells rules of the same name apart. It is "" if there is none.
	Named string
}

// source is a set of files and the parts of them that belong to a tool. Files are patterns of a base name or,
// with a slash, of a path; within are patterns of keys, and an empty one is the whole file.
type source struct {
	files  []string
	within [][]string
}

// has reports whether a file of this name belongs to a source.
func (s source) has(name string) bool {
	return change.FitsAny(s.files, name)
}

// Setting is a setting, or a list of them.
type Setting struct {
	// Keys is a pattern of the keys on the way to the setting: "*" within a key stands for anything,
	// "**" for any number of keys, "[]" for an element of a list, and "a|b" for a or b.
	Keys []string
	Way  Way
	// Implied is a key that makes it harmless to leave this one out, if it is on.
	Implied string
	// Beside is a key beside which a finding about this setting is only evidence.
	Beside string
	// Default is the value of a missing setting, "" if unknown.
	Default string
	// Only selects the elements of a list, or the grades, that count; nil for all.
	Only func(element string) bool
}

// Way is how a setting can become weaker, which also decides the finding.
type Way int

// The ways. Numbers are thresholds; the others are strictness.
const (
	Floor     Way = iota // a number that must be reached: lower is weaker
	Ceiling              // a number that must not be exceeded: higher is weaker
	On                   // a switch that makes the tool stricter
	Off                  // a switch that makes it milder
	Grade                // off, warning, error: lower is weaker
	Rules                // a list of rules that are checked
	Ignored              // a list of rules that are not checked
	Excluded             // a list of files or lines that are excluded: only evidence
	Included             // a list of files that are examined: only evidence
	Uncounted            // a list of patterns of lines that coverage does not count: only evidence
	Skipped              // a list of tests that do not run
	Omitted              // a list of files of tests that do not run: only evidence for patterns
)

// Examines reports whether a file of this name configures a tool or says who decides.
func Examines(name string) bool {
	return isOwners(name) || isOwn(name) || isGuide(name) || path.Base(name) == ".gitattributes" || len(toolsOf(name)) > 0
}

func isFixture(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(fixtures, dir) })
}

func toolsOf(name string) []*Tool {
	if isFixture(name) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(registry), func(t *Tool) bool {
		return !slices.ContainsFunc(t.Sources, func(s source) bool { return s.has(name) })
	})
}

// ForTools reports whether a folder is the root, or holds what tools read for the whole repository.
func ForTools(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return strings.HasPrefix(top, ".") || slices.Contains(folders, top)
}

// value is the value of one tool's setting in a file.
type value struct {
	setting *Setting
	key     string // relative to the tool's part of the file
	text    string
	file    string
	line    int
	scoped  bool // it applies to some files only
}

// part is a tool's configuration in one directory, from all files there.
type part struct {
	values map[string]value   // by key: numbers, switches and grades
	lists  map[string][]value // by key: the elements of lists
	there  bool
	based  bool            // on another configuration, which is not read
	files  map[string]bool // the files that it was read from
}

// read adds a file's settings for a tool; name is the file's name on its side of the change.
func (p *part) read(t *Tool, name, file string, root *doc.Node) {
	var within [][]string
	for _, s := range t.Sources {
		if s.has(name) {
			within = append(within, s.within...)
		}
	}
	for _, pattern := range within {
		visit(root, nil, nil, func(n *doc.Node, keys []string, parents []*doc.Node) {
			rest, prefix, ok := cut(pattern, t.named(keys, append(slices.Clip(parents), n)))
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

// named puts the names of rules in the place of their keys. The first of the nodes is the root, which has no key.
func (t *Tool) named(keys []string, nodes []*doc.Node) []string {
	if t.Named == "" {
		return keys
	}
	names, second, _ := strings.Cut(t.Named, "|")
	first := strings.Split(names, "/")
	keys = slices.Clone(keys)
	for i := range keys {
		name := nodes[i+1].Text(first...)
		same := func(n *doc.Node) bool { return n != nodes[i+1] && n.Text(first...) == name }
		if name != "" && slices.ContainsFunc(nodes[i].Items, same) {
			name += " " + nodes[i+1].Text(second)
		}
		keys[i] = cmp.Or(name, keys[i])
	}
	return keys
}

// Configures reports whether a path of keys in a file belongs to the part of a tool, and no rule judges what is gone and what is
// new there; own says that the part is nothing but the tool's.
func Configures(name string, keys, gone, fresh []string) (configures, own bool) {
	for _, t := range toolsOf(name) {
		for _, s := range t.Sources {
			for _, pattern := range s.within {
				rest, _, ok := cut(pattern, keys)
				if !ok || !s.has(name) {
					continue
				}
				if slices.ContainsFunc(t.Settings, func(s Setting) bool { return s.knows(rest) && s.judges(gone, fresh) }) {
					return false, false
				}
				configures, own = true, own || len(pattern) > 0 || !change.FitsAny(shared, name)
			}
		}
	}
	return configures, own
}

// Watches reports whether a file of this name belongs to a tool of which no setting is known.
func Watches(name string) bool {
	return slices.ContainsFunc(toolsOf(name), func(t *Tool) bool { return len(t.Settings) == 0 && !change.FitsAny(shared, name) })
}

// knows reports whether a path of keys is that of a setting, or of what is in a list of rules.
func (s Setting) knows(keys []string) bool {
	if s.Way == Ignored && len(keys) > len(s.Keys) {
		keys = keys[:len(s.Keys)]
	}
	return matches(s.Keys, keys) || matches(s.Keys, append(slices.Clip(keys), "[]"))
}

// judges reports whether the values of a setting are of its kind. A new maximum may be higher than the tool's own.
func (s Setting) judges(gone, fresh []string) bool {
	var of func(text string) bool
	switch s.Way {
	case Ceiling, Floor:
		if s.Way == Ceiling && s.Default == "" && len(gone) == 0 {
			return false
		}
		of = func(text string) bool { _, ok := amount(text); return ok || text == "max" }
	case On, Off:
		of = func(text string) bool { return on(text) || off(text) }
	case Grade:
		of = func(text string) bool { return grade(text) != other && (s.Only == nil || s.Only(text)) }
	case Rules, Ignored, Excluded, Included:
		return s.Only == nil || s.chooses(gone, fresh)
	default:
		return true
	}
	return !slices.ContainsFunc(slices.Concat(gone, fresh), func(text string) bool { return !of(text) })
}

// chooses reports whether all that is gone of a list is among what counts in it, and nothing is new but what changes no result.
func (s Setting) chooses(gone, fresh []string) bool {
	was, is := strings.Fields(strings.Join(gone, " ")), strings.Fields(strings.Join(fresh, " "))
	talks := func(w string) bool {
		return w == "0" || slices.ContainsFunc(talk, func(start string) bool { return strings.HasPrefix(w, start) })
	}
	return !slices.ContainsFunc(is, func(w string) bool { return !talks(w) && !slices.Contains(was, w) }) &&
		!slices.ContainsFunc(was, func(w string) bool { return !talks(w) && !slices.Contains(is, w) && !s.Only(w) })
}

// cut removes the path of a tool's part from a path of keys. The prefix keeps the keys that match a "*" in
// the pattern.
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
		if !matches(s.Keys, keys) {
			continue
		}
		v := value{setting: s, key: prefix + strings.Join(keys, "/"), file: file, line: n.Line}
		if t.Scope != "" {
			for _, parent := range append(slices.Clip(parents), n) {
				if scope := parent.Get(t.Scope); scope != nil {
					v.scoped, v.key = true, v.key+" for "+strings.Join(scope.Strings(), ",")
				}
			}
		}
		if s.Beside != "" && s.Way >= Rules && parents[len(parents)-1].Get(s.Beside) != nil {
			v.scoped = true
		}
		switch s.Way {
		case Rules, Ignored, Excluded, Included, Uncounted, Skipped, Omitted:
			p.list(n, v)
		case Grade:
			if v.text = gradeText(n); v.text != "" && (s.Only == nil || s.Only(v.text)) {
				p.values[v.key] = v
			}
		default:
			if n.Kind == doc.Scalar || n.Value != "" { // an element of XML may have attributes
				v.text = n.Value
				p.values[v.key] = v
			}
		}
		return
	}
}

// optionFloor and optionCeiling are the settings of limits among the options in a list.
var (
	optionFloor   = &Setting{Way: Floor}
	optionCeiling = &Setting{Way: Ceiling}
)

// most matches a line of a list of checks that has a limit, and what is before and behind the limit.
var most = regexp.MustCompile(`^(.*\bmax_\w+: )(\d+)\b(.*)$`)

// list adds the elements of a list, or of a text that contains a list.
func (p *part) list(n *doc.Node, v value) {
	v.key = strings.TrimSuffix(v.key, "/[]")
	add := func(text string, line int, scoped bool) {
		if name, number, ok := strings.Cut(text, "fail-under="); ok && v.setting.Way == Rules {
			floor := v
			floor.setting, floor.key, floor.text = optionFloor, v.key+"/"+name+"fail-under", strings.Trim(number, `"'`)
			p.values[floor.key] = floor
			return
		}
		if m := most.FindStringSubmatch(text); m != nil && v.setting.Way == Ignored {
			ceiling := v
			ceiling.setting, ceiling.key, ceiling.text, ceiling.line = optionCeiling, m[1]+m[3], m[2], line
			p.values[ceiling.key] = ceiling
		}
		if text = strings.TrimSpace(text); text != "" && (v.setting.Only == nil || v.setting.Only(text)) {
			one := v
			one.text, one.line, one.scoped = text, line, v.scoped || scoped
			p.lists[v.key] = append(p.lists[v.key], one)
		}
	}
	if n.Kind == doc.Map && v.setting.Way == Rules && v.setting.Only != nil { // a block, or a call without arguments
		add(n.Key, n.Line, false)
	}
	for _, item := range n.Items {
		switch id := cmp.Or(item.Text("id"), item.Text("message"), item.Text("identifier")); {
		case n.Kind != doc.List:
		case item.Kind == doc.Scalar:
			add(item.Value, item.Line, false)
		case id != "" && v.setting.Way == Ignored:
			add(id, item.Line, item.Get("path") != nil || item.Get("paths") != nil)
		}
	}
	if n.Kind == doc.Scalar {
		whole := v.setting.Way == Uncounted || slices.Equal(v.setting.Keys, []string{"[]"}) || // may contain spaces
			v.setting.Way == Skipped && v.setting.Only != nil
		divides := func(r rune) bool { return r == '\n' || !whole && strings.ContainsRune(",;\t ", r) }
		for _, text := range strings.FieldsFunc(n.Value, divides) {
			add(text, n.Line, false)
		}
	}
}

// visit calls f for every node, with the keys and nodes that lead to the node.
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

// matches reports whether a path of keys matches a pattern.
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
	for p := range strings.SplitSeq(pattern, "|") {
		before, after, star := strings.Cut(p, "*")
		switch {
		case !star && strings.EqualFold(p, key):
			return true
		case star && len(key) >= len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after):
			return true
		}
	}
	return false
}

// Compare finds settings that became weaker.
func Compare(files []change.File) []change.Finding {
	c := &comparison{parts: map[string]*pair{}, newer: map[string]bool{}, more: map[*Tool]bool{}, had: map[*Tool][]*pair{}, files: files}
	for _, f := range files {
		c.read(f)
	}
	for _, p := range c.parts {
		if p.before.there {
			c.had[p.tool] = append(c.had[p.tool], p)
		}
		if p.more() {
			c.more[p.tool] = c.more[p.tool] || p.before.there
		}
	}
	slices.Sort(c.order)
	for _, id := range c.order {
		c.compare(c.parts[id])
	}
	return slices.Concat(c.found, policies(files), built(files), allowed(files), presets(files), untested(files))
}

// pair is a tool's configuration in one directory, before and after.
type pair struct {
	tool          *Tool
	dir           string
	before, after part
}

type comparison struct {
	files    []change.File
	parts    map[string]*pair
	order    []string
	newer    map[string]bool   // whether the change brings another version of a tool, for the tools asked about so far
	more     map[*Tool]bool    // the tools that are asked for more, each with whether that configuration was there before
	had      map[*Tool][]*pair // those that were there before
	commands int               // settings whose options were searched for
	found    []change.Finding
}

func (c *comparison) read(f change.File) {
	unread := func(t *Tool) bool { return len(t.Settings) == 0 }
	before, after := slices.DeleteFunc(toolsOf(f.OldPath), unread), slices.DeleteFunc(toolsOf(f.Path), unread)
	if len(before)+len(after) == 0 {
		return
	}
	old, oldErr := parse(f.OldPath, f.Before, len(before) > 0)
	now, nowErr := parse(f.Path, f.After, len(after) > 0)
	if nowErr != nil && (oldErr == nil || string(f.Before) != string(f.After)) {
		tier := change.HoldIf(old != nil && slices.ContainsFunc(after, (*Tool).holds))
		why, _, _ := strings.Cut(nowErr.Error(), "\n")
		c.found = append(c.found, change.Finding{Tier: tier, Kind: change.Unexamined, Rule: "tools/unread",
			Why: "This configuration cannot be read, so what it asks for is not known: " + why, Place: change.Place{Path: f.Name()}})
		return
	}
	for _, t := range registry {
		if slices.Contains(before, t) && old != nil {
			c.pair(t, path.Dir(f.Name())).before.read(t, f.OldPath, f.Name(), old)
		}
		if slices.Contains(after, t) && now != nil {
			c.pair(t, path.Dir(f.Name())).after.read(t, f.Path, f.Name(), now)
		}
	}
}

// holds reports whether a setting of a tool can be held: one that is more than a list of files.
func (t *Tool) holds() bool {
	return slices.ContainsFunc(t.Settings, func(s Setting) bool { return s.Way < Excluded || s.Way > Uncounted })
}

func parse(name string, content []byte, wanted bool) (*doc.Node, error) {
	if !wanted || content == nil {
		return nil, nil
	}
	root, err := doc.Parse(name, content)
	if err == nil && path.Ext(name) == ".neon" && root.Kind != doc.Map { // package doc has read lines
		return nil, errors.New("it is not indented as NEON is")
	}
	return root, err
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

// Rivals reports whether two files configure the same tool, which uses only one of them.
func Rivals(name, other string) bool {
	return slices.ContainsFunc(toolsOf(name), func(t *Tool) bool {
		return slices.ContainsFunc(toolsOf(other), func(o *Tool) bool { return o.Name == t.Name && t.Nearest })
	})
}
