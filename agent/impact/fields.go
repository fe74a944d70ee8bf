package impact

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// maxFields bounds the fields whose readers and writers are listed, maxTouches the places shown for one
// field.
const (
	maxFields  = 14
	maxTouches = 8
)

// program adds the repository's Go files to a program, to be read for their types.
func (x index) program(p *golang.Program, contents *worktree.Contents) {
	blobs := map[string]string{}
	paths := make([]string, 0, 64)
	for _, entries := range [][]worktree.Entry{x.entries, x.typed} {
		for _, e := range entries {
			if strings.HasSuffix(e.Path, ".go") || path.Base(e.Path) == "go.mod" {
				blobs[e.Path] = e.Blob
				paths = append(paths, e.Path)
			}
		}
	}
	p.Files(paths)
	p.Read = func(paths []string, take func(string, []byte)) error {
		names := make([]string, len(paths))
		for i, name := range paths {
			names[i] = blobs[name]
		}
		return contents.Blobs(names, maxFile, func(i int, content []byte) { take(paths[i], content) })
	}
}

// fields adds the fields that changed lines read or write to the names. Go's types distinguish its fields
// from others of the same name.
func (f *finder) fields(ctx context.Context) error {
	touched := map[golang.Definition]*Name{}
	touch := func(refs []golang.Ref, changed map[int]string) {
		for _, r := range refs {
			if _, ok := changed[r.Line]; !ok || !r.Field {
				continue
			}
			n := touched[r.Of]
			if n == nil {
				n = &Name{Kind: "field", Name: r.Name, Path: r.Of.Path, Line: r.Of.Line, first: r.Of.Line, last: r.Of.Line, How: Touched}
				touched[r.Of] = n
			}
			if n.weight++; r.Written {
				n.weight += 3
			}
		}
	}
	var paths []string
	for _, side := range f.change.golang {
		paths = append(paths, side.path)
	}
	if err := f.program.Check(ctx, paths); err != nil {
		return err
	}
	if len(paths) > 0 && f.program.Modules() == 0 {
		f.unseen = append(f.unseen, "No go.mod names a module: what Go files use of each other's packages is told by names alone.")
	}
	before, err := f.before(ctx)
	if err != nil {
		return err
	}
	for _, side := range f.change.golang {
		if refs, _ := f.program.Refs(side.path); !side.test {
			touch(refs, side.lines.added)
			touch(before[side.path], side.lines.removed)
		}
	}
	type source struct {
		typeAt func(line int) (outline.Block, bool)
		lines  []string
	}
	sources := map[string]source{} // each is parsed once, since thousands of its fields may be touched
	for _, n := range touched {
		in, known := sources[n.Path]
		if !known {
			text := f.program.Source(n.Path)
			in.typeAt = outline.ByLine(outline.Of(n.Path, text), isType)
			in.lines = strings.Split(string(text), "\n")
			sources[n.Path] = in
		}
		if b, ok := in.typeAt(n.Line); ok {
			n.In = b.Name
		}
		n.hide(nil)
		n.defining(in.lines)
		f.change.fields = append(f.change.fields, *n)
	}
	f.change.fields = slices.DeleteFunc(f.change.fields, func(n Name) bool {
		return slices.ContainsFunc(f.change.names, func(o Name) bool { return o.Name == n.Name && o.In == n.In && outlined(o) })
	})
	slices.SortFunc(f.change.fields, func(a, b Name) int {
		return cmp.Or(b.weight-a.weight, strings.Compare(a.Path, b.Path), a.Line-b.Line, strings.Compare(a.Name, b.Name))
	})
	f.change.names = append(f.change.names, f.change.fields[:min(len(f.change.fields), maxFields)]...)
	return nil
}

// before returns the references in the former texts of Go files that lost lines, by path. They refer to fields at
// their positions at the head; those to fields that were removed are left out.
func (f *finder) before(ctx context.Context) (map[string][]golang.Ref, error) {
	type field struct {
		golang.Definition
		name string
	}
	texts, now := map[string]map[string][]byte{}, map[field]int{} // texts by directory and path; lines at the head
	for _, side := range f.change.golang {
		if len(side.lines.removed) == 0 || side.test || side.path != side.oldPath {
			continue
		}
		dir := path.Dir(side.path)
		if texts[dir] == nil {
			texts[dir] = map[string][]byte{}
		}
		texts[dir][side.path] = side.before
		is := byTitle(f.change.outlines[side.path])
		for _, was := range side.blocks {
			if b, there := is[was.Title()]; there && was.Kind == "field" {
				now[field{golang.Definition{Path: side.path, Line: was.Start}, was.Name}] = b.Start
			}
		}
	}
	all := map[string][]golang.Ref{}
	for _, dir := range slices.Sorted(maps.Keys(texts)) {
		byFile, err := f.program.Text(ctx, dir, texts[dir])
		if err != nil {
			return nil, err
		}
		for file, refs := range byFile {
			for _, r := range refs {
				if _, former := texts[dir][r.Of.Path]; former { // other files are read as they are at the head
					r.Of.Line = now[field{r.Of, r.Name}]
				}
				if r.Of.Line > 0 {
					all[file] = append(all[file], r)
				}
			}
		}
	}
	return all, nil
}

// asked matches an attribute or property that a line accesses on a value without calling it; sigil matches
// one of the object itself in Ruby.
var (
	asked = lazyregexp.New(`([\w$]+)(\??\.|->)([A-Za-z_$][\w$]*)\b`)
	sigil = lazyregexp.New(`(?:^|[^@\w])(@[a-z_]\w*)`)
)

// implicit reports whether a method can name the fields of its object without a qualifier in the language of a file.
func implicit(file string) bool {
	return slices.Contains([]filekind.Language{filekind.C, filekind.CSharp, filekind.Dart, filekind.Groovy, filekind.Java, filekind.Kotlin,
		filekind.Scala, filekind.Swift}, filekind.LanguageOf(file))
}

// touch records the fields that changed lines of a file, except its tests, read or write. Fields of Go are
// found later, by their types.
func (c *changed) touch(s worktree.Sides, test bool, before, after []outline.Block, lines lineChanges) {
	if strings.HasSuffix(s.Path, ".go") {
		c.golang = append(c.golang, goSide{s.Path, s.OldPath, s.Before, before, test, lines})
		return
	}
	if test || !outline.Knows(s.Path) || c.looked > maxLooked {
		return
	}
	r := toucher{change: c, file: s.Path, values: valuesOf(s.Path, string(s.After)), members: map[[2]string][]outline.Block{}}
	for _, b := range after {
		r.members[[2]string{b.In, b.Name}] = append(r.members[[2]string{b.In, b.Name}], b)
	}
	for i, side := range []map[int]string{lines.added, lines.removed} {
		r.turn([][]outline.Block{after, before}[i])
		for _, at := range slices.Sorted(maps.Keys(side)) {
			if len(side[at]) <= maxLine && !comment.MatchString(side[at]) && !imported(side[at]) {
				r.line(at, bare(side[at]))
			}
		}
	}
}

// toucher finds the fields in the lines of one file. What it looks up for each line is prepared: a generated file has
// thousands of definitions, and as many changed lines.
type toucher struct {
	change  *changed
	file    string
	values  values                        // those of the head
	members map[[2]string][]outline.Block // the definitions of the head, by type and name
	// typeAt and fields are those of the side to which the lines belong: the type around a line, and the fields by
	// their type and the first word of their names.
	typeAt func(line int) (outline.Block, bool)
	fields map[[2]string][]outline.Block
}

// turn prepares for the lines of one side of the file.
func (r *toucher) turn(blocks []outline.Block) {
	r.typeAt, r.fields = outline.ByLine(blocks, isType), map[[2]string][]outline.Block{}
	if !implicit(r.file) {
		return
	}
	// Types of one name, such as the builders of generated code, repeat the names of their fields. Two of them suffice for a line
	// to have one that is declared elsewhere.
	named := map[[2]string]int{}
	for _, b := range blocks {
		if b.Kind != "field" && b.Kind != "var" || named[[2]string{b.In, b.Name}] == 2 {
			continue
		}
		named[[2]string{b.In, b.Name}]++
		for word := range strings.FieldsFuncSeq(b.Name, noWord) {
			r.fields[[2]string{b.In, word}] = append(r.fields[[2]string{b.In, word}], b)
			break
		}
	}
}

func isType(b outline.Block) bool { return b.Kind == "type" }

func noWord(r rune) bool { return r < 0x80 && !wordByte[byte(r)] }

func (r *toucher) line(at int, line string) {
	b, _ := r.typeAt(at)
	for _, m := range asked.FindAllStringSubmatchIndex(line, 10) {
		of, name, rest := line[m[2]:m[3]], line[m[6]:m[7]], line[m[1]:]
		if called(rest) || len(name) < 2 || name == "new" || strings.HasPrefix(name, "__") || of[0] <= '9' ||
			typeLike(strings.TrimLeft(name, "$_")) ||
			typeLike(of) && strings.ToUpper(name) == name {
			continue
		}
		in := of
		if itself[of] {
			in = b.Name
		} else if !typeLike(of) {
			in = r.values.typeOf(of)
		}
		r.field(name, in, rest)
	}
	for _, m := range sigil.FindAllStringSubmatchIndex(line, 10) {
		if strings.HasSuffix(r.file, ".rb") {
			r.field(line[m[2]:m[3]], b.Name, line[m[1]:])
		}
	}
	if b.Name == "" {
		return
	}
	known := map[string]bool{}
	for word := range strings.FieldsFuncSeq(line, noWord) {
		if known[word] {
			continue
		}
		known[word] = true
		for _, f := range r.fields[[2]string{b.Name, word}] {
			if i := find(line, f.Name); f.Start != at && i >= 0 && !strings.HasSuffix(line[:i], ".") && !called(line[i+len(f.Name):]) {
				r.field(f.Name, b.Name, line[i+len(f.Name):])
			}
		}
	}
}

// called reports whether the text after a name shows that the name is not a field.
func called(rest string) bool {
	rest = strings.TrimLeft(rest, "?!")
	return strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "<=")
}

// field records a field. If the type of the value is unknown, only a distinct name counts.
func (r *toucher) field(name, in, rest string) {
	c := r.change
	if in == "" && !distinct(name) {
		return
	}
	worth := 1
	if assigns.MatchString(rest) {
		worth = 4
	}
	key := [2]string{in, name}
	if i, known := c.field[key]; known {
		c.fields[i].weight += worth
		return
	}
	n := Name{Kind: "field", Name: name, In: in, Path: r.file, How: Touched, weight: worth}
	for _, b := range r.members[key] {
		if b.Callable() {
			return // a method passed as a value
		}
		n.Line, n.first, n.last = b.Start, b.Start, b.Start
	}
	if c.field == nil {
		c.field = map[[2]string]int{}
	}
	c.field[key] = len(c.fields)
	c.fields = append(c.fields, n)
}

// assigns matches the text after a name that is assigned to.
var assigns = lazyregexp.New(`^\s*(?:\[[^\]]*\]\s*)?(?:[-+*/%|&^]|\?\?|\|\||&&|<<|>>|\*\*|//)?=(?:[^=>~]|$)|^(?:\+\+|--)|^\.(?:push` +
	`|append|add|insert|extend|update|set|delete|remove|pop|clear)\(`)

// itself are the names of the object to which a method belongs.
var itself = set("self this cls Self super")

// meaning is what the types say about a name in a line.
type meaning struct {
	known, same bool // same: the name means exactly this definition
	what        string
	rank        int
}

// means looks up the name in a line, counted from 0, of a type-checked Go file.
func (r *reading) means(i int) (m meaning) {
	n, own := r.name, golang.Definition{Path: r.name.Path, Line: r.name.Line}
	at, _ := slices.BinarySearchFunc(r.refs, i+1, func(ref golang.Ref, line int) int { return ref.Line - line })
	for _, ref := range r.refs[at:] {
		if ref.Line != i+1 {
			break
		}
		if ref.Name != n.Name {
			continue
		}
		m.known = true
		switch {
		case ref.Of == own && ref.Field && ref.Written:
			return meaning{true, true, "writes", 10}
		case ref.Of == own && ref.Field:
			return meaning{true, true, "reads", 8}
		case ref.Of == own:
			return meaning{known: true, same: true}
		case ref.Interface != "" && n.Kind == "method" && r.answers(ref.Methods):
			m.what, m.rank = "calls of "+ref.Interface, 7
		}
	}
	return m
}

// answers reports whether the type of the method has all of these methods.
func (r *reading) answers(asked []string) bool {
	has, _ := r.program.Methods(path.Dir(r.name.Path), r.name.In)
	return !slices.ContainsFunc(asked, func(name string) bool { return !slices.Contains(has, name) })
}

// related reports whether one of two Go types, that of the method and one of the file's package, can stand for the
// other: one is an interface, and the other type has at least half of its methods, including the one that both have.
func (r *reading) related(other string) bool {
	a, aAsks := r.program.Methods(path.Dir(r.name.Path), r.name.In)
	b, bAsks := r.program.Methods(path.Dir(r.file), other)
	if bAsks {
		a, b = b, a
	} else if !aAsks {
		return len(a) == 0 || len(b) == 0 // one of them is unknown
	}
	shared := 0
	for _, name := range a {
		if slices.Contains(b, name) {
			shared++
		}
	}
	return 2*shared >= len(a)
}

// defining records the line that defines a constant, a variable or a field, since it shows the type and the
// initial value.
func (n *Name) defining(lines []string) {
	switch n.Kind {
	case "const", "var", "field":
		if !n.old() && 0 < n.Line && n.Line <= len(lines) {
			n.Text = verdict.Clip(strings.TrimSpace(lines[n.Line-1]), maxText)
		}
	}
}

// kin reports whether a method of the same name, defined in a line, can stand for a changed method: in Go according
// to the types, elsewhere if one of the files mentions the other's type.
func (r *reading) kin(i int) bool {
	n := r.name
	b, _ := outline.Begins(r.file, r.lines[i])
	if b.In == "" {
		b.In, _, _ = strings.Cut(r.around.Around(i), ".")
	}
	if strings.HasSuffix(r.file, ".go") {
		return r.related(b.In)
	}
	return r.file == n.Path || r.speaks() || slices.Contains(r.change.bases[n.Path], b.In)
}

// mine reports whether the name in a line can be a field that changed lines touch, as far as its qualifier shows.
func (r *reading) mine(i int, owner string) bool {
	n := r.name
	if itself[owner] && n.In != "" {
		in, _, inside := strings.Cut(r.around.Around(i), ".")
		return in == n.In || !inside && !typeLike(in)
	}
	if owner != "" || n.Name[0] == '@' || r.file == n.Path && implicit(r.file) {
		return true
	}
	made := find(r.lines[i], n.In) // the fields of a type are set where it is constructed
	return made >= 0 && strings.ContainsAny(r.lines[i][made:], "({")
}
