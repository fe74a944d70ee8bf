package tools

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
)

// lists compares the elements of lists.
func (c *comparison) lists(p *pair) {
	was, is := map[Way]map[string]int{}, map[Way]map[string]int{} // how often each element is in lists of the kind
	for w := Rules; w <= Omitted; w++ {
		was[w], is[w] = p.tool.counts(p.before.lists, w), p.tool.counts(p.after.lists, w)
	}
	c.lost(p, was, is)
	c.further(p, was, is)
}

// lost compares what lists no longer have.
func (c *comparison) lost(p *pair, was, is map[Way]map[string]int) {
	departed := sync.OnceValue(func() map[string]bool { return departed(c.files) })
	whichever := func(*Tool) bool { return true } // another tool may check what this one no longer does
	for _, key := range slices.Sorted(maps.Keys(p.before.lists)) {
		before, after := p.before.lists[key], p.after.lists[key]
		// An element may name a rule only to say where it does not apply.
		element, attribute := path.Split(key)
		exempted := strings.HasPrefix(attribute, "@") && p.before.exemptions(element) > p.after.exemptions(element)
		for _, v := range p.tool.without(before, after) {
			w, name := v.setting.Way, p.tool.plain(v.text)
			tier, rule := change.Evidence, "rule-replaced"
			now, removed := p.tool.Aliases[v.text]
			switch {
			case w == Included && (departed()[path.Base(strings.ReplaceAll(v.text, `\`, "/"))] ||
				p.tool.Name == "solution" && is[w][name] >= was[w][name]): // in the new form, or in another folder of it
				continue
			case w == Included:
				rule = "files-gone"
			case w != Rules, removed && now == "", // by upstream
				is[w][name] >= was[w][name],                // in another list now
				p.tool.Prefixes && p.after.chooses(v.text): // a shorter prefix still chooses the rule
				continue
			case len(after) > 0 && !p.after.based && !c.asksMore(whichever) && !c.unused(p.tool, v.text) && !c.updated(p.tool) &&
				!p.implies(v.setting):
				rule = "rule-gone"
				if p.tool.Name != "pre-commit" && !exempted { // for pre-commit, another hook or a pipeline often does the same
					tier = v.tier()
				}
			}
			c.add(p, tier, rule, v, v.text, "", fmt.Sprintf("%s no longer has %s.", key, v.text))
		}
	}
}

// further compares what lists have and did not.
func (c *comparison) further(p *pair, was, is map[Way]map[string]int) {
	var excluded []value
	enabled := sync.OnceValue(p.before.enabled)
	for _, key := range slices.Sorted(maps.Keys(p.after.lists)) {
		for _, v := range p.tool.without(p.after.lists[key], p.before.lists[key]) {
			name, w := p.tool.plain(v.text), v.setting.Way
			if was[w][name] >= is[w][name] { // it moved from another list of the kind
				continue
			}
			add := func(tier change.Tier, rule, why string) {
				c.add(p, tier, rule, v, "", v.text, fmt.Sprintf("%s has %s now, %s.", key, v.text, why))
			}
			switch {
			case w == Ignored && has(p.tool.Aliases, v.text): // another name replaced it
			case w == Ignored && p.tool.Prefixes && p.before.left(v.text): // a shorter prefix ignored it
			case w == Ignored && p.tool.Runs != nil && !p.tool.Runs(enabled(), v): // the rule never ran
			case w == Ignored && (c.reworks(p.tool) || removable(v.text) || c.moved(p, v) ||
				project.MatchString(v.file) && !strings.Contains(v.key, "Audit")):
				add(change.Evidence, "ignored", "which was so elsewhere or comes with more checks")
			case w == Ignored:
				add(v.tier(), "ignored", "which is no longer reported")
			case w == Included && v.setting.Only != nil: // the list may have others
			case w == Included && len(p.before.lists[key]) == 0:
				add(change.Evidence, "files-chosen", "and others are no longer looked at")
			case w == Uncounted:
				add(change.Evidence, "uncounted", "which no longer counts")
			case w == Skipped:
				tier := v.tier()
				covers := func(gone value) bool { return wide(gone) && change.Fits(gone.text, v.text) }
				if !wide(v) && slices.ContainsFunc(p.tool.without(p.before.lists[key], p.after.lists[key]), covers) {
					tier = change.Evidence // a pattern that left it out, too, is gone
				}
				add(tier, "skipped", "which no longer runs")
			case w == Omitted && testFile.MatchString(v.text) && !c.runs(p, v):
				add(v.tier(), "skipped", "whose tests no longer run")
			case (w == Excluded || w == Omitted) && len(was[Rules]) >= len(is[Rules]): // else a new rule may bring it
				excluded = append(excluded, v)
			}
		}
	}
	if len(excluded) > 0 { // one finding for all
		v, tier := excluded[0], change.Evidence
		if i := slices.IndexFunc(excluded, p.blanket); i >= 0 {
			v, tier = excluded[i], excluded[i].tier()
		}
		c.add(p, tier, "excluded", v, "", v.text, fmt.Sprintf("%s has %s now (%d in all), which is no longer looked at.", v.key,
			v.text, len(excluded)))
	}
}

// allFiles matches patterns of all files, with the rules behind one that is of some rules only.
var allFiles = regexp.MustCompile(`^(?:\.?/?\*\*?(?:/\*)?|\^?\.\*\$?|\^)(?::.*)?$`)

// blanket reports whether an element of a list leaves out all files, or is in a part of the settings for all of them, and no other
// element takes some back. What is only a part of a rule, as an attribute is, has other parts that say where or when it holds.
func (p *pair) blanket(v value) bool {
	if strings.Contains(v.key, "rule") || strings.Contains(v.key, "@") || slices.Contains([]string{"dependabot", "actionlint"}, p.tool.Name) {
		return false
	}
	if strings.HasSuffix(v.key, "-ignores/*") {
		v.text = "*"
	}
	return allFiles.MatchString(v.text) && !slices.ContainsFunc(p.after.lists[v.key], func(o value) bool {
		return strings.HasPrefix(o.text, "!")
	})
}

// exemptions returns how many parts of some elements say where a tool does not look.
func (p part) exemptions(element string) (n int) {
	for v := range p.elements(Excluded) {
		if strings.HasPrefix(v.key, element) {
			n++
		}
	}
	return n
}

// wide reports whether an element of a list is a pattern, which means many things.
func wide(v value) bool { return strings.Contains(v.text, "*") }

// testFile matches the path of one file of tests, and no pattern.
var testFile = regexp.MustCompile(`^[\w./-]*(?:[._-](?:test|spec|cy)|Test)\.(?:[cm]?[jt]sx?|php)$`)

// ofBrowser matches the paths of tests that run in a browser, by a runner of their own.
var ofBrowser = regexp.MustCompile(`(?i)e2e|playwright|cypress|\.cy\.`)

// runs reports whether the tests of a file that a list leaves out may still run, did not run before, or are new: they are for
// another runner, another list has them, another file of the change has its name now, or it has another path.
func (c *comparison) runs(p *pair, v value) bool {
	if p.tool.Name != "playwright" && ofBrowser.MatchString(v.text) {
		return true
	}
	name := path.Base(v.text)
	for _, lists := range []map[string][]value{p.before.lists, p.after.lists} {
		for key, list := range lists {
			if slices.ContainsFunc(list, func(o value) bool {
				return path.Base(o.text) == name && (o.setting.Way == Included || key == v.key && o.text != v.text)
			}) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.files, func(f change.File) bool {
		return f.Path != v.file && f.Gains(name) || f.Path != f.OldPath && path.Base(f.Path) == name
	})
}

// departed are the base names of the projects of .NET that the change gives another name, or deletes with some of their code.
func departed(files []change.File) map[string]bool {
	all, emptier := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if f.Path == "" && !project.MatchString(f.OldPath) {
			for dir := path.Dir(f.OldPath); !emptier[dir]; dir = path.Dir(dir) {
				emptier[dir] = true
			}
		}
	}
	for _, f := range files {
		stays := f.Path == f.OldPath || f.Path == "" && !emptier[path.Dir(f.OldPath)] || f.Path != "" && !project.MatchString(f.Path)
		if project.MatchString(f.OldPath) && !stays {
			all[path.Base(f.OldPath)] = true
		}
	}
	return all
}

// project matches the names of files that belong to one of the projects of .NET in a repository: what such a file ignores is
// ignored in one place.
var project = regexp.MustCompile(`proj$`)

// unused reports whether a plugin checks the use of a library that no manifest or lock of the change has any longer, such
// as rubocop-capybara. What takes out the plugin alone, with its own package, is no reason.
func (c *comparison) unused(t *Tool, plugin string) bool {
	_, library, _ := strings.Cut(path.Base(plugin), t.Name+"-")
	library = strings.TrimPrefix(strings.TrimPrefix(library, "plugin-"), "config-")
	if library == "" {
		return false
	}
	count := func(content []byte) (n int) {
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, library) && !strings.Contains(line, t.Name) {
				n++
			}
		}
		return n
	}
	before, after := 0, 0
	for _, f := range c.files {
		if change.IsManifest(f.Name()) || change.IsLock(f.Name()) {
			before, after = before+count(f.Before), after+count(f.After)
		}
	}
	return before > 0 && after == 0
}

// chooses reports whether a list of rules has a prefix of a rule's name.
func (p part) chooses(rule string) bool {
	for v := range p.elements(Rules) {
		if strings.HasPrefix(rule, v.text) {
			return true
		}
	}
	return false
}

// left reports whether a prefix of a rule's name was ignored, and no list chose the rule, or one of those that begin with its name,
// by more than that prefix.
func (p part) left(rule string) bool {
	ignored, chosen := 0, 0
	for v := range p.elements(Ignored) {
		if !v.scoped && strings.HasPrefix(rule, v.text) {
			ignored = max(ignored, len(v.text))
		}
	}
	for v := range p.elements(Rules) {
		if strings.HasPrefix(rule, v.text) || strings.HasPrefix(v.text, rule) {
			chosen = max(chosen, len(v.text))
		}
	}
	return ignored > 0 && ignored >= chosen
}

// removable distinguishes paths and patterns, which mean files, from the names of rules and addresses.
func removable(text string) bool {
	return strings.ContainsAny(text, "/\\") && !strings.Contains(text, "://")
}

// elements walks the elements of all lists of one kind. It copies no list, since it is asked for each of many rules.
func (p part) elements(w Way) iter.Seq[value] {
	return func(yield func(value) bool) {
		for _, list := range p.lists {
			for _, v := range list {
				if v.setting.Way == w && !yield(v) {
					return
				}
			}
		}
	}
}

// counts returns how often each element is in the lists of one kind.
func (t *Tool) counts(lists map[string][]value, w Way) map[string]int {
	out := map[string]int{}
	for _, list := range lists {
		for _, v := range list {
			if v.setting.Way == w {
				out[t.plain(v.text)]++
			}
		}
	}
	return out
}

// without returns the elements of a list that another list does not have.
func (t *Tool) without(list, other []value) (out []value) {
	had := map[string]bool{}
	for _, v := range other {
		had[t.plain(v.text)] = true
	}
	for _, v := range list {
		if !had[t.plain(v.text)] {
			out = append(out, v)
		}
	}
	return out
}

// same reports whether two names mean one rule: because of an alias, or because they differ only in
// punctuation and plural.
func (t *Tool) same(a, b string) bool { return t.plain(a) == t.plain(b) }

var punctuation = strings.NewReplacer("-", "", "_", "")

// plain is a rule's name without the parts that upstream changes: an alias, punctuation and plural.
func (t *Tool) plain(name string) string {
	if to, ok := t.Aliases[name]; ok {
		name = to
	}
	if t.Plain != nil {
		name = t.Plain(name)
	}
	return strings.TrimSuffix(punctuation.Replace(name), "s")
}
