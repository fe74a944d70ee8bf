package tools

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

// compare compares one tool's configuration. A tool without a configuration before is newly adopted.
func (c *comparison) compare(p *pair) {
	switch {
	case !p.before.there && p.tool.Leaves: // nothing was excluded before
	case !p.before.there:
		for dir := p.dir; dir != "." && p.tool.Nearest; {
			dir = path.Dir(dir)
			if up := c.parts[p.tool.Name+"\x00"+dir]; up != nil && up.before.there {
				c.outranks(p, "the one in "+dir)
				return
			}
		}
		return
	case !p.after.there:
		c.abandoned(p)
		return
	}
	for _, file := range slices.Sorted(maps.Keys(p.before.files)) {
		if p.after.files[file] && !strings.HasPrefix(p.tool.Sources[0].files[0], "*.") { // else none replaces another
			c.outranks(p, file)
			break
		}
	}
	c.settings(p)
}

// settings compares the settings of one tool's configuration, whatever files they are in.
func (c *comparison) settings(p *pair) {
	for _, key := range slices.Sorted(maps.Keys(p.before.values)) {
		was := p.before.values[key]
		if is, there := p.after.values[key]; there {
			c.changed(p, was, is)
		} else {
			c.missing(p, was)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.after.values)) {
		if _, had := p.before.values[key]; !had {
			c.fresh(p, p.after.values[key])
		}
	}
	c.lists(p)
}

// abandoned reports a tool whose configuration is gone. If the configuration set a limit, that limit is
// certainly lower now; otherwise the tool may be gone too, or another tool may replace it.
func (c *comparison) abandoned(p *pair) {
	for _, key := range slices.Sorted(maps.Keys(p.before.values)) {
		if was := p.before.values[key]; was.setting.Way == Floor && !zero(was.text) &&
			(was.setting.Default == "" || weaker(Floor, was.text, was.setting.Default)) {
			c.add(p, change.HoldIf(!c.goes(p, was)), "limit-gone", was, key+" = "+was.text, "",
				fmt.Sprintf("%s (%s) is gone with its configuration.", key, was.text))
			return
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.before.values)) {
		c.add(p, change.Evidence, "configuration-gone", p.before.values[key], key, "", "its configuration is gone.")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(p.before.lists)) {
		c.add(p, change.Evidence, "configuration-gone", p.before.lists[key][0], key, "", "its configuration is gone.")
		return
	}
}

// goes reports whether a project goes with its limit: everything known of its folder is deleted, sources and tests, or moves to
// another folder, whose new configuration has the limit.
func (c *comparison) goes(p *pair, was value) bool {
	moved, tests, sources := map[string]bool{}, map[string]bool{}, map[string]bool{} // folders, and the extensions of files
	for _, f := range c.files {
		rest, in := strings.CutPrefix(f.OldPath, p.dir+"/")
		switch {
		case strings.HasPrefix(f.Path, p.dir+"/"):
			return false
		case !in:
		case f.Path != "":
			moved[strings.TrimSuffix(f.Path, "/"+rest)] = true
		case strings.Contains(strings.ToLower(rest), "test"):
			tests[path.Ext(rest)] = true
		case !p.before.files[f.OldPath]:
			sources[path.Ext(rest)] = true
		}
	}
	for dir := range moved {
		other := c.parts[p.tool.Name+"\x00"+dir]
		if other == nil || other.before.there {
			return false
		}
		is, same := other.after.values[was.key]
		if (!same || weaker(was.setting.Way, was.text, is.text)) && !renamed(p.tool, was, other.after.values) {
			return false
		}
	}
	maps.DeleteFunc(tests, func(ext string, _ bool) bool { return !sources[ext] })
	return len(moved) > 0 || len(tests) > 0
}

// outranks reports that a new configuration replaces another one, which the tool then no longer reads.
func (c *comparison) outranks(p *pair, other string) {
	for _, file := range slices.Sorted(maps.Keys(p.after.files)) {
		if !p.before.files[file] {
			c.found = append(c.found, change.Finding{Tier: change.Evidence, Kind: change.Strictness, Rule: p.tool.Name + "/outranks",
				Why: fmt.Sprintf("%s: this new configuration takes the place of %s.", p.tool.Name, other), Place: change.Place{Path: file}})
			return
		}
	}
}

// inherited reports whether a setting is now in the configuration of a folder further up, for all files or for some of them.
func (c *comparison) inherited(p *pair, was value) (all, some bool) {
	for dir := p.dir; dir != "."; {
		dir = path.Dir(dir)
		up := c.parts[p.tool.Name+"\x00"+dir]
		if up == nil {
			continue
		}
		for key, is := range up.after.values {
			if !weaker(was.setting.Way, was.text, is.text) {
				all = all || key == was.key
				some = some || is.scoped && strings.HasPrefix(key, was.key+" for ")
			}
		}
	}
	return all, some
}

// tier lowers the tier of a setting that applies to some files only.
func (v value) tier() change.Tier {
	return change.HoldIf(!v.scoped)
}

func (c *comparison) changed(p *pair, was, is value) {
	if weaker(was.setting.Way, was.text, is.text) {
		rule, tier := "weaker", is.tier()
		switch {
		case was.setting.Way <= Ceiling:
			rule = "limit"
		case was.setting.Way == Grade && c.updated(p.tool):
			tier = change.Evidence
		}
		c.add(p, tier, rule, is, was.key+" = "+was.text, is.key+" = "+is.text,
			fmt.Sprintf("%s turns from %s to %s.", is.key, was.text, is.text))
	} else if was.setting.Way == On && on(was.text) && !on(is.text) {
		c.add(p, change.Evidence, "conditional", is, was.key+" = "+was.text, is.key+" = "+is.text,
			fmt.Sprintf("%s was on and is %s, which may be off.", is.key, is.text))
	}
}

// implies reports whether another setting that is on makes it harmless to leave this one out.
func (p *pair) implies(s *Setting) bool {
	for _, v := range p.after.values {
		if s.Implied != "" && base(v.key) == s.Implied && on(v.text) {
			return true
		}
	}
	return false
}

// missing judges a removed setting: a finding is certain if the known default is weaker.
func (c *comparison) missing(p *pair, was value) {
	s, tier := was.setting, was.tier()
	all, some := c.inherited(p, was)
	if some || c.replaced(p.tool) {
		tier = change.Evidence
	}
	if p.implies(s) || renamed(p.tool, was, p.after.values) || all {
		return
	}
	why := fmt.Sprintf("%s (%s) is gone.", was.key, was.text)
	switch {
	case s.Default != "" && weaker(s.Way, was.text, s.Default), s.Way == Floor && s.Default == "" && weaker(Floor, was.text, "0"):
		c.add(p, tier, "gone", was, was.key+" = "+was.text, "", why)
	case s.Default != "":
	case s.Way == Ceiling, s.Way == On && on(was.text), s.Way == Grade && grade(was.text) > 0:
		c.add(p, change.Evidence, "gone", was, was.key+" = "+was.text, "", why)
	}
}

// replaced reports whether a pipeline of the change uses another service more often than before that does the same as a tool.
func (c *comparison) replaced(t *Tool) bool {
	return t.Rival != nil && slices.ContainsFunc(c.files, func(f change.File) bool {
		name := t.Rival.FindString(string(f.After))
		return name != "" && (path.Ext(f.Path) == ".yml" || path.Ext(f.Path) == ".yaml") && f.Gains(name)
	})
}

// renamed reports whether a rule continues under another name.
func renamed(t *Tool, was value, after map[string]value) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(after)), func(is value) bool {
		return is.setting.Way == was.setting.Way && is.key != was.key && t.same(base(was.key), base(is.key)) &&
			!weaker(was.setting.Way, was.text, is.text)
	})
}

// fresh judges a new setting.
func (c *comparison) fresh(p *pair, is value) {
	s := is.setting
	gained := s.Way == Off && on(is.text) || s.Way == On && off(is.text) || s.Way == Grade && grade(is.text) == 0
	if s.Default != "" {
		gained = weaker(s.Way, s.Default, is.text)
	}
	if !gained {
		return
	}
	for _, was := range p.before.values { // the setting only moved to another place
		if was.setting == s && was.text == is.text && !has(p.after.values, was.key) && p.tool.same(base(was.key), base(is.key)) {
			return
		}
	}
	if c.moved(p, is) || p.before.offAbove(is.key) {
		return
	}
	tier := is.tier()
	// In an existing file the rule may never have been on; nobody turns off a rule that is off.
	unknown := s.Default == "" && s.Implied == "" && s.Way == On && p.before.files[is.file]
	named := func(key string) bool { return base(key) == s.Beside }
	beside := s.Beside != "" && slices.ContainsFunc(slices.Collect(maps.Keys(p.after.values)), named)
	// The setting may come from a configuration that this one was based on or, in a new file, from another
	// file.
	elsewhere := p.before.based && !p.after.based || !p.tool.Nearest && !p.before.files[is.file]
	// A folder's additions to the settings above it apply to its own files only.
	within := s.Way == Grade && !p.tool.Nearest && !ForTools(p.dir)
	if unknown || beside || elsewhere || within || c.reworks(p.tool) || c.commanded(is.key) {
		tier = change.Evidence
	}
	c.add(p, tier, "off", is, "", is.key+" = "+is.text, fmt.Sprintf("%s is set to %s.", is.key, is.text))
}

// maxCommanded bounds the settings whose options are searched for in all files. Any further one is held.
const maxCommanded = 200

// commanded reports whether a command of the change loses the option that has the same name as a setting.
func (c *comparison) commanded(key string) bool {
	if c.commands++; c.commands > maxCommanded {
		return false
	}
	return slices.ContainsFunc(c.files, func(f change.File) bool {
		return change.File{Before: f.After, After: f.Before}.Gains("--" + base(key))
	})
}

// offAbove reports whether what a key belongs to was off as a whole, so that nothing in it can be milder now.
func (p part) offAbove(key string) bool {
	for i := range key {
		if was, there := p.values[key[:i]]; key[i] == '/' && there && was.setting.Way == On && off(was.text) {
			return true
		}
	}
	return false
}

// moved reports whether the same tool loses a setting with that name and value, or an element of a list,
// elsewhere. An element of a folder's list does not move up, to more folders.
func (c *comparison) moved(p *pair, is value) bool {
	gone := func(list []value, setting *Setting) bool {
		return slices.ContainsFunc(list, func(v value) bool { return v.setting == setting && v.text == is.text })
	}
	for _, other := range c.had[p.tool] {
		if other == p {
			continue
		}
		for key, was := range other.before.values {
			if gone([]value{was}, is.setting) && base(key) == base(is.key) && !has(other.after.values, key) {
				return true
			}
		}
		for key, list := range other.before.lists {
			if gone(list, is.setting) && !gone(other.after.lists[key], is.setting) && depth(other.dir) <= depth(p.dir) {
				return true
			}
		}
	}
	return false
}

// depth is the number of folders from the root to a folder.
func depth(dir string) int { return strings.Count(path.Join(dir, "file"), "/") }

func has[K comparable, V any](m map[K]V, key K) bool { _, ok := m[key]; return ok }

func base(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// reworks reports whether a change does anything else to a tool than to take checks away: it brings another version, or
// asks for more than before, in any configuration of the tool or in one of its family that was there. What such a change
// switches off may never have been on. That is no answer to a limit.
func (c *comparison) reworks(t *Tool) bool {
	return c.updated(t) || has(c.more, t) || c.asksMore(t.related)
}

// asksMore reports whether a configuration of one of some tools that was there asks for more than before.
func (c *comparison) asksMore(some func(t *Tool) bool) bool {
	for t, more := range c.more {
		if more && some(t) {
			return true
		}
	}
	return false
}

// updated reports whether the change brings another version of a tool.
func (c *comparison) updated(t *Tool) bool {
	newer, known := c.newer[t.Name]
	if !known {
		newer = change.Brings(c.files, t.Comes)
		c.newer[t.Name] = newer
	}
	return newer
}

// related reports whether a tool is of the same family, such as dotnet and dotnet-rules.
func (t *Tool) related(other *Tool) bool {
	return strings.HasPrefix(other.Name, t.Name+"-") || strings.HasPrefix(t.Name, other.Name+"-")
}

// more reports whether a part asks for more than before: a switch is named that was not, whatever its default is, or the
// opposite change would take something away.
func (p *pair) more() bool {
	if !p.after.there {
		return false
	}
	for key, is := range p.after.values {
		if is.setting.Way == On && on(is.text) && !has(p.before.values, key) {
			return true
		}
	}
	opposite := &comparison{newer: map[string]bool{}}
	opposite.settings(&pair{p.tool, p.dir, p.after, p.before})
	return slices.ContainsFunc(opposite.found, func(f change.Finding) bool { // a limit that is new can be milder than none
		return f.Tier == change.Hold || f.Kind != change.Threshold
	})
}

// enabled returns the rules that a part's lists and settings enable, and the keys of those lists.
func (p part) enabled() map[string]bool {
	out := map[string]bool{}
	for v := range p.elements(Rules) {
		out[v.key], out[v.text] = true, true
	}
	for key, v := range p.values {
		out[key] = out[key] || on(v.text)
		out[key+"="+v.text] = true
	}
	return out
}

func weaker(w Way, was, is string) bool {
	switch w {
	case Floor, Ceiling:
		a, okA := amount(was)
		b, okB := amount(is)
		if was == "max" { // the highest level of PHPStan
			return w == Floor && okB
		}
		return okA && okB && (w == Floor && b < a || w == Ceiling && b > a)
	case On:
		return on(was) && off(is)
	case Off:
		return off(was) && on(is)
	case Grade:
		return grade(was) != other && grade(is) < grade(was)
	}
	return false
}

// amount is a number, or a size such as "27.5 KB".
func amount(text string) (float64, bool) {
	if n, ok := change.Number(text); ok {
		return n, true
	}
	n, err := humanize.ParseBytes(text)
	return float64(n), err == nil
}

func zero(text string) bool { n, ok := change.Number(text); return ok && n == 0 }

func on(text string) bool {
	return slices.Contains([]string{"true", "yes", "on", "1", "enable", "enabled", "all"}, strings.ToLower(text))
}

func off(text string) bool {
	return slices.Contains([]string{"false", "no", "off", "0", "disable", "disabled", "none", "annotations"}, strings.ToLower(text))
}

// other is the grade of a text that is not a grade; it compares as strict.
const other = 9

func grade(text string) int {
	if n, err := strconv.Atoi(grades[strings.ToLower(text)]); err == nil {
		return n
	}
	return other
}

// gradeText is a grade: the text itself, the first element of a list, or the level or severity of a map. Files such as
// .editorconfig can have a comment behind it.
func gradeText(n *doc.Node) string {
	text, _, _ := strings.Cut(n.Value, " #")
	text = strings.TrimSpace(text)
	switch {
	case n.Kind == doc.List && len(n.Items) > 0:
		text = n.Items[0].Value
	case n.Kind == doc.Map:
		text = cmp.Or(n.Text("level"), n.Text("severity"))
	}
	if grade(text) == other {
		return ""
	}
	return text
}
