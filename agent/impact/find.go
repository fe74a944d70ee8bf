package impact

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/filekind"
)

const (
	// common is the maximum number of files that contain a name for it to be searched everywhere. A name in
	// more files is only searched in files that also mention what it belongs to.
	common = 25
	// maxCandidates bounds the files searched for one name, maxRead those searched in total.
	maxCandidates = 40
	maxRead       = 400
	// maxPlaces bounds the places shown for one name, perFile those in one file.
	maxPlaces = 12
	perFile   = 4
	// perName is the number of index queries for one name.
	perName = 5
)

// finder searches for the names that a change touches.
type finder struct {
	change   changed
	program  *golang.Program
	index    index
	contents *worktree.Contents
	kinds    map[string]string // kinds of files, by path
	unseen   []string          // what could not be searched
}

// candidate is a file in which a name may be used.
type candidate struct{ entry, name, rank int }

// uses finds the uses of all names.
func (f *finder) uses(ctx context.Context) ([]Name, error) {
	names := f.change.names
	queries := make([][]word, 0, perName*len(names))
	for _, n := range names {
		queries = append(queries, hashesOf(n.Name), companions(n), []word{hash(n.In)}, []word{defined(n.Name)}, n.packageWord())
	}
	holding := f.index.holding(queries)
	byEntry := map[int][]int{}          // which names to search for in a file
	for _, vague := range []int{0, 1} { // definite names come first, if not all files can be read
		for i := range names {
			if names[i].vagueness() != vague {
				continue
			}
			for _, c := range f.candidates(i, holding[perName*i:perName*(i+1)]) {
				if _, known := byEntry[c.entry]; known || len(byEntry) < maxRead {
					byEntry[c.entry] = append(byEntry[c.entry], c.name)
				} else {
					names[i].More++
				}
			}
		}
	}
	var typed []string // Go files that must be type-checked
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
	err := read(f, byEntry, func(sought []int, file, text string, lines []string) {
		for _, i := range sought {
			f.search(&names[i], file, text, lines)
		}
	})
	for i := range names {
		n := &names[i]
		slices.SortStableFunc(n.Places, func(a, b Place) int {
			return cmp.Or(b.rank-a.rank, strings.Compare(a.Path, b.Path), a.Line-b.Line)
		})
		most := maxPlaces
		if n.How == Touched || n.word != "" {
			most = maxTouches
		}
		for _, p := range n.Places[min(most, len(n.Places)):] {
			n.also(p.Path, p.Line)
		}
		n.Places = n.Places[:min(most, len(n.Places))]
		slices.SortFunc(n.Also, func(a, b Position) int { return strings.Compare(a.Path, b.Path) })
	}
	var common []Name
	names = slices.DeleteFunc(names, func(n Name) bool {
		n.common = n.common || n.word != "" && n.More > 0 && len(n.Places) == 0
		if n.common && n.How == Removed {
			common = append(common, n)
		}
		return n.common
	})
	if len(common) > 0 {
		f.unseen = append(f.unseen, tooCommon(common))
	}
	return names, err
}

// maxAlso bounds the files, and the lines of a file, that are named besides the places.
const maxAlso = 12

// also records a further line with the word; line is 0 for a file that was not searched.
func (n *Name) also(file string, line int) {
	i := slices.IndexFunc(n.Also, func(p Position) bool { return p.Path == file })
	switch {
	case n.How == Touched || i < 0 && len(n.Also) == maxAlso || i >= 0 && len(n.Also[i].Lines) == maxAlso:
		n.More++
		return
	case i < 0:
		i = len(n.Also)
		n.Also = append(n.Also, Position{Path: file})
	}
	if line > 0 {
		n.Also[i].Lines = append(n.Also[i].Lines, line)
	}
}

// companions returns the words that code using a name must also contain, in most languages: the type to which
// it belongs, and the file or package from which it is imported if the type's name is a common one like
// Builder, or there is no type.
func companions(n Name) []word {
	var all []word
	if n.In != "" && n.Kind != "file" {
		if all = append(all, hash(n.In)); distinct(n.In) {
			return all
		}
	}
	from := stem(n.Path)
	if strings.HasSuffix(n.Path, ".go") || from == "index" || from == "mod" || from == "__init__" {
		from = path.Base(path.Dir(n.Path))
	}
	return append(all, hashesOf(from)...)
}

// packageWord returns the name of the Go package of a method or field, which its users import.
func (n Name) packageWord() []word {
	all := parts(path.Base(path.Dir(n.Path)))
	if !strings.HasSuffix(n.Path, ".go") || !n.member() || len(all) == 0 {
		return nil
	}
	return []word{hash(all[len(all)-1])}
}

// member reports whether a name is accessed on a value.
func (n Name) member() bool {
	return n.In != "" && outlined(n) && n.Kind != "type" && n.Kind != "module"
}

// candidates returns the files to search for one name, the likeliest first. holding lists entries by what
// they contain: first the name, then its companions, its type, a definition of it, and the name of its
// package.
func (f *finder) candidates(i int, holding [][]int) []candidate {
	n := &f.change.names[i]
	if n.vagueness() > 0 && len(holding[0]) > maxCandidates {
		n.common = true
		return nil
	}
	// A name that many files use, or several define, is only searched in files that mention what it belongs
	// to.
	vague := outlined(*n) && !distinct(n.Name)
	defining := slices.DeleteFunc(slices.Clone(holding[3]), func(entry int) bool {
		return family(f.index.entries[entry].Path) != family(n.Path)
	})
	many := outlined(*n) && (len(holding[0]) > common || vague || len(defining) > 1)
	alone := n.hidden == "file"
	var all []candidate
	for _, entry := range holding[0] {
		p := f.index.entries[entry].Path
		near := path.Dir(p) == path.Dir(n.Path)
		_, speaks := slices.BinarySearch(holding[1], entry)
		_, typed := slices.BinarySearch(holding[2], entry)
		_, imports := slices.BinarySearch(holding[4], entry)
		if n.Kind == "column" && n.word != "" && !typed { // code that reads a column names its table
			n.others = true
			continue
		}
		typed, speaks = typed || imports, speaks || imports
		code := outline.Knows(p)
		switch foreign := code && outlined(*n) && p != n.Path; {
		case foreign && (alone || n.hidden == "package" && !near || family(p) != family(n.Path)):
			n.Apart++
			continue
		case foreign && n.member() && many && !typed && (vague || len(holding[0]) > common/2), foreign && many && !near && !speaks:
			n.also(p, 0)
			continue
		}
		rank := 0
		for _, points := range []struct {
			applies bool
			worth   int
		}{{p == n.Path, 20}, {near, 30}, {speaks, 25}, {typed, 15}, {code, 10}, {n.word != "" && !code, 15}} {
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

// outlined reports whether a name is a definition in code, and not a text.
func outlined(n Name) bool {
	switch n.Kind {
	case "func", "method", "type", "field", "const", "var", "module":
		return true
	}
	return false
}

// family returns the language of a file, and one for those that share names: Java is used from Kotlin.
func family(name string) string {
	switch language := filekind.LanguageOf(name); language {
	case filekind.Kotlin, filekind.Scala, filekind.Groovy:
		return string(filekind.Java)
	case "":
		return strings.ToLower(path.Ext(name))
	default:
		return string(language)
	}
}

// read reads files of the index, and passes on each with what is wanted of it, its path, its text, and that split into
// lines.
func read[T any](f *finder, wanted map[int]T, take func(wanted T, file, text string, lines []string)) error {
	entries := slices.Sorted(maps.Keys(wanted))
	blobs := make([]string, len(entries))
	for i, e := range entries {
		blobs[i] = f.index.entries[e].Blob
	}
	return f.contents.Blobs(blobs, maxFile, func(i int, content []byte) {
		if content != nil {
			text := string(content)
			take(wanted[entries[i]], f.index.entries[entries[i]].Path, text, strings.Split(text, "\n"))
		}
	})
}

// search searches for a name in a file, and stores the places that use it.
func (f *finder) search(n *Name, file, text string, lines []string) {
	if file == n.Path {
		n.defining(lines)
	}
	r := reading{finder: f, name: n, file: file, lines: lines, owners: n.qualifiers(file, lines), values: valuesOf(file, text),
		around: outline.SurroundingsOf(file, lines)}
	r.refs, r.checked = f.program.Refs(file)
	r.speaks = sync.OnceValue(func() bool {
		return slices.ContainsFunc(lines, func(line string) bool { return find(line, n.In) >= 0 })
	})
	own := f.kind(file)
	first, last := outline.InlineTests(file, lines)
	found, listed := 0, map[[2]string]bool{} // of a touched field, what a function does with it is listed once
	for i, line := range lines {
		if word := cmp.Or(n.word, n.Name); !strings.Contains(line, word) || f.inside(n, file, i+1) || find(line, word) < 0 {
			continue
		}
		kind := own
		if first <= i && i < last {
			kind = "test"
		}
		p, ok := r.use(i, kind)
		if ok && (found < perFile || n.How == Touched) { // finding it for all lines of a long file takes too much time
			p.Function = r.around.Around(i)
		}
		does := [2]string{p.Function, p.What}
		if !ok || n.How == Touched && listed[does] {
			if n.word != "" {
				n.others = true
			} else if n.How != Touched {
				n.also(file, i+1)
			}
			continue
		}
		if found++; found > perFile && n.How != Touched {
			n.also(file, i+1)
			continue
		}
		listed[does] = true
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

// reading is a file that is searched for the uses of a name.
type reading struct {
	*finder
	name  *Name
	file  string
	lines []string
	// owners are the possible qualifiers of the name; nil if any is possible.
	owners []string
	// refs are the meanings of the file's names, if the file was type-checked.
	refs    []golang.Ref
	checked bool
	// speaks reports whether the file mentions the type to which the name belongs.
	speaks func() bool
	// values tells the types of qualifiers.
	values values
	// around are the surroundings of the lines.
	around *outline.Surroundings
}

// use returns what a line does with the name, without its function; ok is false if the name means something else there.
func (r *reading) use(i int, kind string) (p Place, ok bool) {
	n, line := r.name, r.lines[i]
	p = Place{Path: r.file, Line: i + 1}
	if n.word != "" {
		p.What, p.rank = n.plays(r.file, kind, line)
		if p.rank == 0 {
			return p, false
		}
		if kind == "test" {
			p.rank -= 3
		}
		return p, true
	}
	at := find(line, n.Name)
	if at < 0 {
		return p, false
	}
	if p.What, p.rank = classify(*n, r.file, kind, line, at); p.What == "" {
		return p, false
	}
	m := r.means(i)
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
	if !m.same && n.member() && owner != "" && !itself[owner] && used[p.What] {
		is := r.values.typeOf(owner)
		if is != "" && is != n.In && n.How == Touched {
			return p, false
		}
		if is != "" && is != n.In { // an interface or a type that embeds it, unless it is a different type
			p.What, p.rank = p.What+" of "+is, p.rank-4
		}
	}
	return p, true
}

// another reports whether the name means something else at a place, from what is known about it: m, its
// position in the line, and its qualifier.
func (r *reading) another(p Place, m meaning, at int, owner string) bool {
	n, i, touched := r.name, p.Line-1, r.name.How == Touched
	line := r.lines[i]
	switch {
	case !n.old() && m.known && !m.same && m.what == "", touched && r.checked && !m.known: // or a type that is not in this repository
		return true
	case touched && (p.What != "reads" && p.What != "writes" || !m.known && called(line[at+len(n.Name):])):
		return true
	case p.What == "also defines" && n.Kind == "method" && !r.kin(i):
		return true
	case !m.same && n.vague(r.file, line, at) && used[p.What]:
		return true
	case touched && !m.known && !r.mine(i, owner):
		return true
	}
	return owner != "" && r.owners != nil && outline.Knows(r.file) && !slices.Contains(r.owners, owner)
}

// vague reports whether a common name in a line is accessed on a value of unknown type, such as the result of
// a call, and the line does not mention the type to which the name belongs.
func (n *Name) vague(file, line string, at int) bool {
	if !n.member() || distinct(n.Name) || strings.HasSuffix(file, ".go") || implicit(file) && last(line[:at]) != '.' {
		return false
	}
	of := strings.TrimRight(line[:at], ".:>-")
	return (of == line[:at] && n.Kind != "field" || last(of) == ')' || last(of) == ']') && find(line, n.In) < 0
}

// used are the classifications of a name accessed on a value.
var used = set("calls uses reads writes")

// qualifiers returns the qualifiers of a Go package's name in a file of another package: the package's name,
// and the file's alias for it. It returns nil for all other names.
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

// maxText bounds the line shown for a place, in bytes.
const maxText = 140

// inside reports whether a line belongs to the change or to the definition itself.
func (f *finder) inside(n *Name, file string, line int) bool {
	if _, ok := f.change.added[file][line]; ok {
		return true
	}
	return file == n.Path && !n.old() && n.first <= line && line <= n.last
}

// find returns the position of a name as a whole word in a line; -1 if it is not there or the name is empty.
func find(line, name string) int {
	for at := range occurrences(line, name) {
		return at
	}
	return -1
}

// occurrences yields the positions of a name as a whole word in a line.
func occurrences(line, name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; name != ""; {
			at := strings.Index(line[from:], name)
			if at < 0 {
				return
			}
			at += from
			end := at + len(name)
			if (at == 0 || !wordByte[line[at-1]] || !wordByte[name[0]]) &&
				(end == len(line) || !wordByte[line[end]] || !wordByte[name[len(name)-1]]) && !yield(at) {
				return
			}
			from = at + 1
		}
	}
}
