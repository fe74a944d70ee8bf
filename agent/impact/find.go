package impact

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
	"touchstone/verdict"
	"touchstone/worktree"
)

const (
	// common is in how many files a name stands at most that is looked for everywhere. One
	// in more files is looked for where what it belongs to is spoken of, too.
	common = 25
	// maxCandidates bounds the files that are searched for one name, maxRead those that are
	// searched in all.
	maxCandidates = 40
	maxRead       = 400
	// maxPlaces bounds the places that are shown of one name, perFile those in one file.
	maxPlaces = 12
	perFile   = 4
	// perName is how many questions the index is asked of one name.
	perName = 5
)

// finder looks for the names that a change touches.
type finder struct {
	change   changed
	program  *golang.Program
	index    index
	contents *worktree.Contents
	kinds    map[string]string // of files, by their paths
	unseen   []string          // what could not be looked at
}

// candidate is a file in which a name may be used.
type candidate struct{ entry, name, rank int }

// uses looks for the uses of all names.
func (f *finder) uses(ctx context.Context) ([]Name, error) {
	names := f.change.names
	queries := make([][]word, 0, perName*len(names))
	for _, n := range names {
		var all []word
		for _, part := range parts(n.Name) {
			all = append(all, hash(part))
		}
		queries = append(queries, all, companions(n), []word{hash(n.In)}, []word{defined(n.Name)}, n.packageWord())
	}
	holding := f.index.holding(queries)
	byEntry := map[int][]int{} // which names to look for in a file
	for i := range names {
		for _, c := range f.candidates(i, holding[perName*i:perName*(i+1)]) {
			if _, known := byEntry[c.entry]; known || len(byEntry) < maxRead {
				byEntry[c.entry] = append(byEntry[c.entry], c.name)
			} else {
				names[i].More++
			}
		}
	}
	var typed []string // files of Go of which the types are asked
	for entry, sought := range byEntry {
		if name := f.index.entries[entry].Path; strings.HasSuffix(name, ".go") &&
			slices.ContainsFunc(sought, func(i int) bool { return names[i].member() }) {
			typed = append(typed, name)
		}
	}
	slices.Sort(typed)
	if err := f.program.Check(ctx, typed); err != nil {
		return nil, err
	}
	err := f.read(byEntry, func(entry int, lines []string) {
		for _, i := range byEntry[entry] {
			f.search(&names[i], f.index.entries[entry].Path, lines)
		}
	})
	for i := range names {
		n := &names[i]
		slices.SortStableFunc(n.Places, func(a, b Place) int {
			return cmp.Or(b.rank-a.rank, strings.Compare(a.Path, b.Path), a.Line-b.Line)
		})
		most := maxPlaces
		if n.How == Touched {
			most = maxTouches
		}
		if more := len(n.Places) - most; more > 0 {
			n.Places, n.More = n.Places[:most], n.More+more
		}
	}
	return names, err
}

// companions are the words that code which uses a name has to contain too, in most languages: the
// type that it belongs to, and the file or package that it is imported from where the type's name
// is one like Builder, or there is none.
func companions(n Name) []word {
	var all []word
	if n.In != "" && n.Kind != "file" {
		if all = append(all, hash(n.In)); distinct(n.In) {
			return all
		}
	}
	stem := strings.TrimSuffix(path.Base(n.Path), path.Ext(n.Path))
	if strings.HasSuffix(n.Path, ".go") || stem == "index" || stem == "mod" || stem == "__init__" {
		stem = path.Base(path.Dir(n.Path))
	}
	for _, part := range parts(stem) {
		all = append(all, hash(part))
	}
	return all
}

// packageWord is the name of the package of Go that something belongs to, which those who use its
// methods and fields import.
func (n Name) packageWord() []word {
	all := parts(path.Base(path.Dir(n.Path)))
	if !strings.HasSuffix(n.Path, ".go") || !n.member() || len(all) == 0 {
		return nil
	}
	return []word{hash(all[len(all)-1])}
}

// member reports whether a name is asked of a value.
func (n Name) member() bool {
	return n.In != "" && outlined(n) && n.Kind != "type" && n.Kind != "module"
}

// candidates are the files to search for one name, the likeliest first. Of the entries that
// hold something, the first hold the name, then its companions, its type, a definition of it,
// and the name of its package.
func (f *finder) candidates(i int, holding [][]int) []candidate {
	n := &f.change.names[i]
	// A name that many use, or several define, is looked for where what it belongs to is
	// spoken of.
	vague := outlined(*n) && !distinct(n.Name)
	many := outlined(*n) && (len(holding[0]) > common || vague || len(holding[3]) > 1)
	alone := n.hidden == "file"
	var all []candidate
	for _, entry := range holding[0] {
		p := f.index.entries[entry].Path
		near := path.Dir(p) == path.Dir(n.Path)
		_, speaks := slices.BinarySearch(holding[1], entry)
		_, typed := slices.BinarySearch(holding[2], entry)
		_, imports := slices.BinarySearch(holding[4], entry)
		typed, speaks = typed || imports, speaks || imports
		code := outline.Knows(p)
		switch foreign := code && outlined(*n) && p != n.Path; {
		case foreign && (alone || n.hidden == "package" && !near || family(p) != family(n.Path)):
			continue
		case foreign && n.member() && many && !typed && (vague || len(holding[0]) > common/2), foreign && many && !near && !speaks:
			n.More++
			continue
		}
		rank := 0
		for _, points := range []struct {
			applies bool
			worth   int
		}{{p == n.Path, 20}, {near, 30}, {speaks, 25}, {typed, 15}, {code, 10}} {
			if points.applies {
				rank += points.worth
			}
		}
		all = append(all, candidate{entry, i, rank})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.rank - a.rank })
	if more := len(all) - maxCandidates; more > 0 {
		all, n.More = all[:maxCandidates], n.More+more
	}
	return all
}

// outlined reports whether a name is a definition of code, and not a text.
func outlined(n Name) bool {
	switch n.Kind {
	case "func", "method", "type", "field", "const", "var", "module":
		return true
	}
	return false
}

// family is a language as far as names are shared within it: JavaScript is used from
// TypeScript, Java from Kotlin.
func family(name string) string {
	ext := strings.ToLower(path.Ext(name))
	for _, group := range []string{".js .jsx .cjs .mjs .ts .tsx .cts .mts .vue .svelte", ".java .kt .kts .scala .groovy", ".py .pyi",
		".rb .rake .erb", ".c .h .cc .cpp .cxx .hpp .hh .m .mm"} {
		if ext != "" && slices.Contains(strings.Fields(group), ext) {
			return group
		}
	}
	return ext
}

// read reads files of the index, line by line.
func (f *finder) read(wanted map[int][]int, take func(entry int, lines []string)) error {
	var entries []int
	for e := range wanted {
		entries = append(entries, e)
	}
	slices.Sort(entries)
	blobs := make([]string, len(entries))
	for i, e := range entries {
		blobs[i] = f.index.entries[e].Blob
	}
	return f.contents.Blobs(blobs, maxFile, func(i int, content []byte) {
		if content != nil {
			take(entries[i], strings.Split(string(content), "\n"))
		}
	})
}

// search looks for a name in a file, and keeps the places that use it.
func (f *finder) search(n *Name, file string, lines []string) {
	if file == n.Path {
		n.defining(lines)
	}
	r := reading{finder: f, name: n, file: file, lines: lines, owners: n.qualifiers(file, lines), types: map[string]string{}}
	r.refs, r.checked = f.program.Refs(file)
	own := f.kind(file)
	first, last := outline.InlineTests(file, lines)
	found := 0
	for i, line := range lines {
		if !strings.Contains(line, n.Name) || f.inside(n, file, i+1) {
			continue
		}
		kind := own
		if first <= i && i < last {
			kind = "test"
		}
		p, ok := r.use(i, kind)
		if !ok || n.listed(p) {
			continue
		}
		if found++; found > perFile && n.How != Touched {
			n.More++
			continue
		}
		p.Text = verdict.Clip(strings.TrimSpace(line), maxText)
		if kind == "test" {
			p.What = "test: " + p.What
			if n.How == Touched {
				p.rank -= 6
			}
		}
		if path.Dir(file) == path.Dir(n.Path) {
			p.rank += 2
		}
		n.Places = append(n.Places, p)
	}
}

// listed reports whether a place does what another one of its function does, which is listed once of a
// touched field.
func (n *Name) listed(p Place) bool {
	return n.How == Touched && slices.ContainsFunc(n.Places, func(o Place) bool {
		return o.Path == p.Path && o.Function == p.Function && strings.HasSuffix(o.What, p.What)
	})
}

// reading is a file that is read for the uses of a name.
type reading struct {
	*finder
	name  *Name
	file  string
	lines []string
	// owners are what may stand in front of the name, nil where anything may.
	owners []string
	// refs are what the names of the file mean, where it was checked.
	refs    []golang.Ref
	checked bool
	// types are those of what stands in front of the name, as far as they were looked for in text, which
	// is all lines.
	types map[string]string
	text  string
}

// use is what a line does with the name; ok is false where it means something else.
func (r *reading) use(i int, kind string) (p Place, ok bool) {
	n, line := r.name, r.lines[i]
	at := find(line, n.Name)
	if at < 0 {
		return p, false
	}
	p = Place{Path: r.file, Line: i + 1}
	if p.What, p.rank = classify(*n, r.file, kind, line, at); p.What == "" {
		return p, false
	}
	m := r.means(n, r.refs, i+1)
	if m.what != "" {
		p.What, p.rank = m.what, m.rank
	}
	owner := ""
	if strings.HasSuffix(line[:at], ".") {
		owner = lastWord(line[:at-1])
	}
	if r.another(p, m, at, owner) {
		return p, false
	}
	if !m.same && n.member() && owner != "" && !itself(owner) && used[p.What] {
		is := r.typeOf(owner)
		if is != "" && is != n.In && n.How == Touched {
			return p, false
		}
		if is != "" && is != n.In { // an interface or a type that embeds it, if it is not another one
			p.What, p.rank = p.What+" of "+is, p.rank-4
		}
	}
	p.Function = outline.Around(r.file, r.lines, i)
	return p, true
}

// another reports whether the name means another thing at a place, by what is known of it there: m, where
// in its line it is, and what stands in front of it.
func (r *reading) another(p Place, m meaning, at int, owner string) bool {
	n, i, touched := r.name, p.Line-1, r.name.How == Touched
	line := r.lines[i]
	switch {
	case !n.old && m.known && !m.same && m.what == "", touched && r.checked && !m.known: // or of a type that is not of this repository
		return true
	case touched && (p.What != "reads" && p.What != "writes" || !m.known && called(line[at+len(n.Name):])):
		return true
	case p.What == "also defines" && n.Kind == "method" && !r.kin(n, r.file, r.lines, i):
		return true
	case !m.same && n.vague(r.file, line, at) && used[p.What]:
		return true
	case touched && !m.known && !n.mine(r.file, r.lines, i, owner):
		return true
	}
	return owner != "" && r.owners != nil && outline.Knows(r.file) && !slices.Contains(r.owners, owner)
}

// typeOf is the type of a variable, as the text of the file says it; empty where it does not.
func (r *reading) typeOf(variable string) string {
	is, known := r.types[variable]
	if !known {
		if r.text == "" {
			r.text = strings.Join(r.lines, "\n")
		}
		is = typeOf(variable, r.file, r.text)
		r.types[variable] = is
	}
	return is
}

// vague reports whether a common name in a line is asked of what nothing is known of, such as the
// result of a call, where the line does not speak of the type that the name belongs to.
func (n *Name) vague(file, line string, at int) bool {
	if !n.member() || distinct(n.Name) || strings.HasSuffix(file, ".go") || implicit[path.Ext(file)] && last(line[:at]) != '.' {
		return false
	}
	of := strings.TrimRight(line[:at], ".:>-")
	return (of == line[:at] && n.Kind != "field" || last(of) == ')' || last(of) == ']') && find(line, n.In) < 0
}

// used are what a line does with something that it asks of a value.
var used = set("calls uses reads writes")

// qualifiers are what a name of a package of Go stands behind in a file of another one: the
// package's name, and what the file calls it. Nil is for all others.
func (n *Name) qualifiers(file string, lines []string) []string {
	dir := path.Dir(n.Path)
	if !outlined(*n) || n.In != "" || !strings.HasSuffix(n.Path, ".go") || !strings.HasSuffix(file, ".go") || path.Dir(file) == dir {
		return nil
	}
	if version.MatchString(path.Base(dir)) {
		dir = path.Dir(dir)
	}
	name := path.Base(dir)
	all := []string{name, strings.TrimPrefix(name, "go-"), strings.ReplaceAll(name, "-", "")}
	for _, line := range lines[:min(len(lines), 120)] {
		if importPath.MatchString(line) && strings.Contains(line, "/"+name) {
			if fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "import ")); len(fields) > 1 {
				all = append(all, fields[0])
			}
		}
	}
	return all
}

// maxText bounds the line that is shown of a place, in bytes.
const maxText = 140

// inside reports whether a line is the change's own or within the definition itself.
func (f *finder) inside(n *Name, file string, line int) bool {
	if _, ok := f.change.added[file][line]; ok {
		return true
	}
	return file == n.Path && !n.old && n.first <= line && line <= n.last
}

// find is where a name stands as a whole in a line; -1 where it does not, and where there is no name.
func find(line, name string) int {
	if name == "" {
		return -1
	}
	for from := 0; ; {
		at := strings.Index(line[from:], name)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(name)
		if (at == 0 || !wordByte[line[at-1]] || !wordByte[name[0]]) &&
			(end == len(line) || !wordByte[line[end]] || !wordByte[name[len(name)-1]]) {
			return at
		}
		from = at + 1
	}
}
