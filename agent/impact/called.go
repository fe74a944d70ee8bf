package impact

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
)

const (
	// maxCalled bounds the definitions that are shown, deeperThan those whose own calls are looked up.
	maxCalled  = 60
	deeperThan = 16
	// tries bounds the files in which the definition of one name is searched, and maxSame the definitions of
	// one name that are shown if it is unknown which one is meant.
	tries   = 4
	maxSame = 3
	// maxSeveral bounds the names that are reported to have several definitions, maxPaths the files named for
	// each.
	maxSeveral = 12
	maxPaths   = 6
)

// sought is a mention whose definition is searched for.
type sought struct {
	mention
	in      string // the type to which the definition must belong, if known
	at      int    // its line, if known
	entries []int  // the files that may have it, the likeliest first
	all     []int  // all files that may have it, if it is unknown which one is meant
}

// called finds the definitions of names used in changed lines and in the lines beside them, and of what the
// found functions call. The text before a dot says which definition is meant: a package, a type, or a value
// whose type its file shows. If several definitions of a name are equally near, it returns their places.
func (f *finder) called() (all []Code, several []Several, err error) {
	known := map[[2]string]bool{}
	wanted := f.change.mentions
	for range 2 { // what changed lines use, and what that uses
		var found []Code
		if found, err = f.definitions(wanted, known, &several); err != nil {
			return nil, nil, err
		}
		for _, c := range found {
			if !slices.ContainsFunc(all, c.same) {
				all = append(all, c)
			}
		}
		slices.SortStableFunc(all, func(a, b Code) int {
			return cmp.Or(a.rank-b.rank, a.weight()-b.weight(), strings.Compare(a.Path, b.Path), a.block.Start-b.block.Start)
		})
		wanted = f.deeper(all)
	}
	return all[:min(len(all), maxCalled)], several, nil
}

// weight orders what is defined: functions, types, values.
func (c Code) weight() int {
	switch {
	case c.block.Callable():
		return 0
	case c.block.Kind == "type":
		return 1
	}
	return 2
}

// deeper returns what the most important definitions call.
func (f *finder) deeper(all []Code) (wanted []mention) {
	for _, c := range all[:min(len(all), deeperThan)] {
		if c.rank > besideLine || !c.block.Callable() {
			continue
		}
		lines := map[int]string{}
		for _, l := range c.Lines {
			lines[l.Number] = l.Text
		}
		for _, m := range mentions(c.Path, false, lineChanges{added: lines}) {
			if m.called && !everyday[m.name] {
				m.rank = deeperLine
				wanted = append(wanted, m)
			}
		}
	}
	return wanted[:min(len(wanted), maxMentions)]
}

// definitions finds the definitions of mentions that are not known yet.
func (f *finder) definitions(mentions []mention, known map[[2]string]bool, several *[]Several) (all []Code, err error) {
	var wanted []sought
	queries := make([][]word, 0, 2*len(mentions))
	for _, m := range mentions {
		if key := [2]string{m.of, m.name}; m.rank < deeperLine || !known[key] {
			known[key] = true
			wanted = append(wanted, sought{mention: m})
			owner := []word{hash(m.name), defined(m.in)}
			if m.in == "" {
				owner = nil
			}
			queries = append(queries, []word{defined(m.name)}, owner)
		}
	}
	reading := map[int][]int{} // which are searched for in a file
	for i, holding := 0, f.index.holding(queries); i < len(wanted); i++ {
		w := &wanted[i]
		f.narrow(w, holding[2*i], holding[2*i+1])
		for _, entry := range w.entries {
			if _, ok := reading[entry]; ok || len(reading) < maxRead {
				reading[entry] = append(reading[entry], i)
			}
		}
	}
	found := make([][]Code, len(wanted))
	err = read(f, reading, func(sought []int, file, text string, lines []string) {
		blocks := outline.Of(file, []byte(text))
		for _, i := range sought {
			found[i] = append(found[i], f.definition(&wanted[i], file, lines, blocks)...)
		}
	})
	for i, w := range wanted {
		most, files := 0, map[string]bool{} // the files of the definitions with the highest score
		for _, c := range found[i] {
			if c.score > most {
				most = c.score
				clear(files)
			}
			if c.score == most {
				files[c.Path] = true
			}
		}
		if len(files) != 1 && len(w.all) > tries || len(files) > maxSame {
			f.report(w, several)
			continue
		}
		for _, c := range found[i] {
			if c.score == most && len(c.Lines) > 0 {
				all = append(all, c)
			}
		}
	}
	return all, err
}

// report records a name with several definitions, if it is worth it.
func (f *finder) report(w sought, several *[]Several) {
	if w.rank > addedLine || len(*several) == maxSeveral || w.of != "" && !distinct(w.name) ||
		slices.ContainsFunc(*several, func(s Several) bool { return s.Name == w.name }) {
		return
	}
	var places []string // the nearest first
	for _, entry := range w.all {
		places = append(places, f.index.entries[entry].Path)
	}
	slices.SortStableFunc(places, func(a, b string) int { return nearness(w.file, b) - nearness(w.file, a) })
	if len(places) > 1 {
		*several = append(*several, Several{Name: w.name, Paths: places[:min(maxPaths, len(places))], More: max(0, len(places)-maxPaths)})
	}
}

// narrow finds the files that may define what is sought. defining are those that define the name,
// owning those that have it and define the type to which it belongs.
func (f *finder) narrow(w *sought, defining, owning []int) {
	if of, known, checked := f.meant(w.mention); known {
		if entry, ok := f.index.at(of.Path); ok {
			w.entries, w.at = []int{entry}, of.Line
		}
		return
	} else if checked && w.of != "" {
		return // of another module
	}
	if entry, ok := f.within(w.mention); ok {
		w.entries = []int{entry}
		return
	}
	w.in = w.mention.in
	if f.near(w, owning); len(w.entries) > 0 {
		return
	}
	w.in = ""
	of := f.ofPackage(w.mention, defining)
	if f.near(w, of); len(of) == len(defining) {
		w.all = f.possible(w.mention, defining)
	}
	if w.of != "" && !itself[w.of] && !distinct(w.name) && len(w.all) > 1 {
		w.entries = nil // a value of unknown type
	}
}

// possible selects the files whose definitions a line can mean.
func (f *finder) possible(m mention, holding []int) (all []int) {
	for _, entry := range holding {
		p := f.index.entries[entry].Path
		if family(p) == family(m.file) && (f.kind(p) != "test" || f.kind(m.file) == "test") {
			all = append(all, entry)
		}
	}
	return all
}

// near records the files of the same language that a line most likely means, the nearest first.
func (f *finder) near(w *sought, holding []int) {
	w.entries = f.possible(w.mention, holding)
	scores := map[int]int{} // each is determined once: thousands of files can define a name
	for _, entry := range w.entries {
		scores[entry] = w.score(f.index.entries[entry].Path)
	}
	slices.SortStableFunc(w.entries, func(a, b int) int { return scores[b] - scores[a] })
	w.entries = w.entries[:min(len(w.entries), tries)]
}

// score is higher for a file that is nearer, and for one that has the name of what the definition belongs to.
func (w sought) score(file string) int {
	score := 2 * nearness(w.file, file)
	if owner := plain(cmp.Or(w.in, w.of)); owner != "" && plain(stem(file)) == owner {
		score++
	}
	return score
}

// meant returns the definition of a name used in a line of Go, according to its types; checked says that the
// types are known.
func (f *finder) meant(m mention) (of golang.Definition, known, checked bool) {
	refs, checked := f.program.Refs(m.file)
	for _, r := range refs {
		if r.Name == m.name && (r.Line == m.line || m.rank == removedLine) {
			return r.Of, true, true
		}
	}
	return of, false, checked && m.rank != removedLine && f.program.Modules() > 0
}

// definition returns the definitions of a name in a file, overloads included. One that the patches show has no
// lines.
func (f *finder) definition(w *sought, file string, lines []string, blocks []outline.Block) (all []Code) {
	for _, b := range blocks {
		if b.Name != w.name || b.Local || b.Kind == "test" || b.Kind == "field" && w.called || w.in != "" && b.In != "" && b.In != w.in ||
			w.at > 0 && (w.at < b.Start || b.Body < w.at) {
			continue
		}
		if len(all) > 0 && all[0].block.In != b.In || len(all) == maxSame {
			break
		}
		c := f.shown(file, lines, blocks, b, 0)
		c.rank, c.score = w.rank, w.score(file)
		all = append(all, c)
	}
	return all
}

// within returns the changed file itself, if it defines what its lines mention.
func (f *finder) within(m mention) (entry int, ok bool) {
	if m.of != "" && m.in == "" && !itself[m.of] && !distinct(m.name) {
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
	if m.of == "" || itself[m.of] {
		return holding
	}
	var all []int
	for _, entry := range holding {
		p := f.index.entries[entry].Path
		name := plain(stem(p))
		if plain(path.Base(path.Dir(p))) == plain(m.of) || name == plain(m.of) || m.in != "" && name == plain(m.in) {
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

// stem returns the name of a file without its extension.
func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

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
