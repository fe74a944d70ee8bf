package impact

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/verdict"
)

const (
	// maxDefinition bounds the lines shown of one definition, fewLines those of a definition that is only
	// used beside changed lines or in tests, maxComment those of the comment above it, maxNear those of a
	// function in the same file as the change, and maxCalled the number of definitions shown.
	maxDefinition = 18
	maxNear       = 45
	fewLines      = 8
	maxComment    = 6
	maxCalled     = 30
	// ambiguous is the maximum number of files that may define a name for it to be shown.
	ambiguous = 6
	// maxSeveral bounds the names that are reported to have several definitions.
	maxSeveral = 12
)

// definition is a possible definition of something that the change uses.
type definition struct {
	mention
	entry int
	in    string // the type to which it must belong, if known
}

// called finds the definitions of names used in changed lines and in the lines beside them. The text before a
// dot says which definition is meant: a package, a type, or a value whose type its file shows. If several
// definitions of a name are equally near, it returns their places.
func (f *finder) called() (all []Called, several []Several, err error) {
	mentions := f.change.mentions
	wanted := map[int][]definition{}
	queries := make([][]word, 0, 2*len(mentions))
	for _, m := range mentions {
		owner := []word{hash(m.name), defined(m.in)}
		if m.in == "" {
			owner = nil
		}
		queries = append(queries, []word{defined(m.name)}, owner)
	}
	holding := f.index.holding(queries)
	for i, m := range mentions {
		if of, known, checked := f.meant(m); known {
			if entry, ok := f.index.at(of); ok {
				wanted[entry] = append(wanted[entry], definition{m, entry, ""})
			}
			continue
		} else if checked && m.of != "" {
			continue // of another module
		}
		if entry, ok := f.within(m); ok {
			wanted[entry] = append(wanted[entry], definition{m, entry, ""})
			continue
		}
		if owner := f.nearest(m, holding[2*i+1], true); owner >= 0 {
			wanted[owner] = append(wanted[owner], definition{m, owner, m.in})
			continue
		}
		if best := f.nearest(m, f.ofPackage(m, holding[2*i]), false); best >= 0 {
			wanted[best] = append(wanted[best], definition{m, best, ""})
			continue
		}
		if m.rank >= besideLine || len(several) == maxSeveral || m.of != "" && !distinct(m.name) ||
			slices.ContainsFunc(several, func(s Several) bool { return s.Name == m.name }) {
			continue
		}
		if places := f.same(m, holding[2*i]); len(places) > 1 {
			several = append(several, Several{Name: m.name, Paths: places[:min(3, len(places))], More: max(0, len(places)-3)})
		}
	}
	reading := map[int][]int{}
	for entry := range wanted {
		reading[entry] = nil
	}
	err = f.read(reading, func(entry int, lines []string) {
		file := f.index.entries[entry].Path
		blocks := outline.Of(file, []byte(strings.Join(lines, "\n")))
		for _, d := range wanted[entry] {
			if c, ok := f.definition(d, file, lines, blocks); ok &&
				!slices.ContainsFunc(all, func(o Called) bool { return o.Path == c.Path && o.Start == c.Start }) {
				all = append(all, c)
			}
		}
	})
	slices.SortStableFunc(all, func(a, b Called) int {
		return cmp.Or(a.rank-b.rank, strings.Compare(a.Path, b.Path), a.Start-b.Start)
	})
	return all[:min(len(all), maxCalled)], several, err
}

// meant returns the file that defines a name used in a line of Go, according to its types; checked says that
// the types are known.
func (f *finder) meant(m mention) (file string, known, checked bool) {
	refs, checked := f.program.Refs(m.file)
	for _, r := range refs {
		if r.Name == m.name && (r.Line == m.line || m.rank == removedLine) {
			return r.Of.Path, true, true
		}
	}
	return "", false, checked && m.rank != removedLine && f.program.Modules() > 0
}

// definition returns the part of a definition to show; ok is false if the definition is missing, or shown in
// the patches already.
func (f *finder) definition(d definition, file string, lines []string, blocks []outline.Block) (c Called, ok bool) {
	at := slices.IndexFunc(blocks, func(b outline.Block) bool {
		return b.Name == d.name && !b.Local && b.Kind != "test" && b.Kind != "field" && (d.in == "" || b.In == d.in || b.Name == d.in)
	})
	if at < 0 {
		return c, false
	}
	b := blocks[at]
	added := f.change.added[file]
	for line := b.Start; line <= b.End && line <= b.Start+maxDefinition; line++ {
		if _, changed := added[line]; changed && b.Callable() {
			return c, false // the patches show it
		}
	}
	start := b.Start
	for b.Callable() && start > 1 && comment.MatchString(lines[start-2]) {
		start--
	}
	if b.Start-start > maxComment {
		start = b.Start
	}
	most := maxDefinition
	switch {
	case d.rank >= besideLine:
		most = fewLines
	case d.file == file && b.Callable():
		most = maxNear
	}
	c = Called{Path: file, Start: start, Title: b.Title(), rank: d.rank}
	end := min(b.End, b.Start-1+most, len(lines))
	for _, line := range lines[start-1 : end] {
		c.Lines = append(c.Lines, verdict.Clip(strings.TrimRight(line, "\r"), maxText))
	}
	if b.End > end {
		c.Lines = append(c.Lines, "…")
	}
	return c, true
}

// within returns the changed file itself, if it defines what its lines mention.
func (f *finder) within(m mention) (entry int, ok bool) {
	if m.of != "" && m.in == "" && !itself(m.of) && !distinct(m.name) {
		return 0, false
	}
	for _, b := range f.change.outlines[m.file] {
		if b.Name == m.name && !b.Local && b.Kind != "field" && b.Kind != "test" && (m.in == "" || b.In == m.in) {
			return f.index.at(m.file)
		}
	}
	return 0, false
}

// ofPackage selects the files that belong to the qualifier of a name, if there are any: a package by its
// directory, a module or a class by its file.
func (f *finder) ofPackage(m mention, holding []int) []int {
	if m.of == "" || itself(m.of) {
		return holding
	}
	var all []int
	for _, entry := range holding {
		p := f.index.entries[entry].Path
		stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
		if plain(path.Base(path.Dir(p))) == plain(m.of) || plain(stem) == plain(m.of) || m.in != "" && plain(stem) == plain(m.in) {
			all = append(all, entry)
		}
	}
	if len(all) == 0 && distinct(m.name) {
		return holding
	}
	return all
}

// plain normalises a name across the spelling conventions of languages.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// same returns the files that can define what a file mentions: files of its language that are not tests.
func (f *finder) same(m mention, holding []int) []string {
	var all []string
	for _, entry := range holding {
		p := f.index.entries[entry].Path
		if family(p) == family(m.file) && (f.kind(p) != "test" || f.kind(m.file) == "test") {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return nearness(m.file, b) - nearness(m.file, a) })
	return all
}

// nearest returns the file of the same language that a line most likely means; -1 if several are equally
// near. Many other types of the same name may exist far away.
func (f *finder) nearest(m mention, holding []int, typed bool) int {
	best, score, tied := -1, -1, false
	count := 0
	for _, entry := range holding {
		p := f.index.entries[entry].Path
		if family(p) != family(m.file) || f.kind(p) == "test" && f.kind(m.file) != "test" {
			continue
		}
		count++
		near := 2 * nearness(m.file, p)
		if owner := cmp.Or(m.in, m.of); owner != "" && plain(strings.TrimSuffix(path.Base(p), path.Ext(p))) == plain(owner) {
			near++
		}
		if near == score {
			tied = true
		} else if near > score {
			best, score, tied = entry, near, false
		}
	}
	if tied || count > ambiguous && score < 4 && !typed && m.of == "" {
		return -1
	}
	return best
}

// nearness returns how near a file is to another one, from 0 to 3.
func nearness(to, file string) int {
	switch {
	case file == to:
		return 3
	case path.Dir(file) == path.Dir(to):
		return 2
	case strings.HasPrefix(file, path.Dir(path.Dir(to))+"/"):
		return 1
	}
	return 0
}
