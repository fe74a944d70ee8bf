package impact

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// changed describes what a change touches.
type changed struct {
	names []Name
	// added holds, for each path, the head's lines that the change adds.
	added map[string]map[int]string
	// outlines are the definitions in the changed files at the head.
	outlines map[string][]outline.Block
	// mentions are the names that changed lines use, shapes the removed lines for which similar code is
	// searched, and imports the lines by which the files get the used names.
	mentions []mention
	// used are the words of changed lines, kept those of lines that the change adds or leaves beside them.
	used, kept map[string]bool
	shapes     []Alike
	imports    []Import
	looked     int // how many changed lines were searched for used names
	passed     int // how many changed files were not searched for used names
	// golang are the changed Go files, to be type-checked; fields are those that changed lines of other
	// languages read or write.
	golang []goSide
	fields []Name
	field  map[[2]string]int   // the index in fields, by type and name
	bases  map[string][]string // the types mentioned in the first lines of a changed file's types
	// annotated are the changed files with annotations for a product graph.
	annotated map[string]bool
	// common are names of one word that are not followed, since they mean something else in most places; untold
	// counts those beyond a sheet's bound.
	common []Name
	untold int
	// unread counts files without text, and foreign files of code in a language that is not read, whose endings are
	// foreignEnds; broken are files that do not parse.
	unread, foreign int
	foreignEnds     map[string]bool
	broken          []string
}

// goSide is a changed Go file.
type goSide struct {
	path, oldPath string
	before        []byte
	blocks        []outline.Block // before the change
	test          bool
	lines         lineChanges
}

// understand finds the names that a change touches. sides are those of all files of the diff but submodules, in its order.
func understand(diff diff.Diff, sides []worktree.Sides) changed {
	c := changed{added: map[string]map[int]string{}, outlines: map[string][]outline.Block{}, annotated: map[string]bool{},
		bases: map[string][]string{}, used: map[string]bool{}, kept: map[string]bool{}, foreignEnds: map[string]bool{}}
	var found []Name
	named := literals{}
	for _, f := range diff.Files {
		var s worktree.Sides
		if !f.Submodule {
			s, sides = sides[0], sides[1:]
		}
		if f.Submodule || s.Unread || f.Binary || f.Truncated {
			c.unread++
			continue
		}
		lines := changesOf(f.Patch)
		c.added[f.Path] = lines.added
		for _, side := range []struct {
			lines         map[int]string
			changed, kept bool
		}{{lines.removed, true, false}, {lines.added, true, true}, {lines.beside, false, true}} {
			for _, line := range side.lines {
				if len(line) > maxLine {
					continue
				}
				for _, name := range parts(line) {
					c.used[name] = c.used[name] || side.changed
					c.kept[name] = c.kept[name] || side.kept
				}
			}
		}
		if passed(f.Path) {
			continue
		}
		if !outline.Knows(f.Path) && filekind.Code(f.Path) {
			c.foreign++
			c.foreignEnds[strings.ToLower(cmp.Or(path.Ext(f.Path), path.Base(f.Path)))] = true
		}
		test := kindOf(f.Path) == "test"
		before, after := outline.Of(s.OldPath, s.Before), outline.Of(s.Path, s.After)
		c.outlines[f.Path] = after
		c.bases[f.Path] = basesIn(after, s.After)
		c.annotated[f.Path] = bytes.Contains(s.After, []byte("@graph-"))
		found = append(found, touched(s, before, after, lines, test)...)
		if outline.Broken(f.Path, s.After) {
			c.broken = append(c.broken, f.Path)
		}
		product, tests := lines.apart(s)
		if !test {
			product.widen(after, string(s.After))
			named.collect(f.Path, s, product)
		}
		c.touch(s, test, before, after, product)
		c.use(f.Path, s.After, test, product)
		c.use(f.Path, s.After, true, tests)
		if f.Status == "deleted" || f.Status == "renamed" && path.Base(f.OldPath) != path.Base(f.Path) {
			c.names = append(c.names, fileName(f))
		}
	}
	// A name that is removed here and defined there has moved: the uses of the new definition are its uses.
	was, now := map[string]bool{}, map[string]bool{}
	for _, n := range found {
		if n.How == Removed {
			was[n.title()] = true
		} else {
			now[n.title()] = true
		}
	}
	for _, n := range found {
		switch {
		case n.How == Removed && now[n.title()]:
		case n.How == Added && (was[n.title()] || !distinct(strings.Trim(n.Name, "_")) || kindOf(n.Path) == "test"):
		default:
			c.names = append(c.names, n)
		}
	}
	c.names = append(c.names, named.names()...)
	c.names = append(c.names, c.dropped()...)
	c.roles()
	slices.SortStableFunc(c.names, func(a, b Name) int { return cmp.Or(int(a.How)-int(b.How), a.vagueness()-b.vagueness()) })
	slices.SortStableFunc(c.mentions, func(a, b mention) int { return a.rank - b.rank })
	c.mentions = c.mentions[:min(len(c.mentions), maxMentions)]
	c.shapes = c.shapes[:min(len(c.shapes), maxShapes)]
	return c
}

// maxDropped bounds the names that only removed lines used.
const maxDropped = 8

// dropped returns the distinct names that removed lines called and no other line of the change has: whether
// they are used elsewhere shows whether another place of the same kind is left.
func (c *changed) dropped() (all []Name) {
	known := map[string]bool{}
	for _, n := range c.names {
		known[n.Name] = true
	}
	for _, m := range c.mentions {
		if m.rank == removedLine && distinct(m.name) && !c.kept[m.name] && len(all) < maxDropped && !known[m.name] {
			known[m.name] = true
			all = append(all, Name{Kind: "name", Name: m.name, Path: m.file, Line: m.line, first: m.line, last: m.line, How: Dropped})
		}
	}
	return all
}

// basesIn returns the types mentioned in the first lines of types, such as those that they extend.
func basesIn(blocks []outline.Block, text []byte) (all []string) {
	lines, read := bytes.Split(text, []byte("\n")), 0
	for _, b := range blocks {
		if b.Kind == "type" && read < b.Start && b.Start <= len(lines) { // one line can begin thousands of types
			read = b.Start
			all = append(all, parts(string(lines[b.Start-1]))...)
		}
	}
	return all
}

// fileName returns a file that was removed or renamed, by its base name: others refer to it by that name.
func fileName(f diff.File) Name {
	if f.Status == "deleted" {
		return Name{Kind: "file", Name: path.Base(f.Path), In: path.Dir(f.Path), Path: f.Path, How: Removed}
	}
	return Name{Kind: "file", Name: path.Base(f.OldPath), In: path.Dir(f.OldPath), Path: f.OldPath, How: Renamed, To: f.Path}
}

// touched returns the definitions of one file that contain changed lines, and those that were added or
// removed.
func touched(s worktree.Sides, before, after []outline.Block, lines lineChanges, test bool) []Name {
	was, is := byTitle(before), byTitle(after)
	var names []Name
	add := func(b outline.Block, file string, how How) {
		names = append(names, Name{Kind: b.Kind, Name: b.Name, In: b.In, Path: file, Line: b.Start, first: b.Start, last: b.End, How: how})
	}
	tests := inline(after)
	added, removed := filled(lines.added), filled(lines.removed)
	owners, oldOwners := owners(after, lines.added), owners(before, lines.removed)
	for i, b := range after {
		old, ok := was[b.Title()]
		switch {
		case unused(b, test || tests[i]):
		case !ok:
			add(b, s.Path, Added)
		case hit(added, b.Start, b.Body) || hit(removed, old.Start, old.Body):
			add(b, s.Path, Signature)
		case owners[b] || oldOwners[old]:
			how := Body
			if !b.Callable() {
				how = Signature
			}
			add(b, s.Path, how)
		}
	}
	tests = inline(before)
	for i, b := range before {
		if _, ok := is[b.Title()]; !ok && !unused(b, test || tests[i]) {
			add(b, s.OldPath, Removed)
		}
	}
	pairRenamed(names, s)
	names = slices.DeleteFunc(names, func(n Name) bool { return n.Kind == "" })
	old, text := bytes.Split(s.Before, []byte("\n")), bytes.Split(s.After, []byte("\n"))
	for i := range names {
		n := &names[i]
		if n.old() {
			n.hide(old[n.Line-1])
		} else {
			n.hide(text[n.Line-1])
			if i > 0 && names[i-1].Line == n.Line { // they share the comment
				n.first = names[i-1].first
			}
			for n.first > 1 && comment.Match(text[n.first-2]) { // the comment above a definition is not a use of it
				n.first--
			}
		}
		n.construct()
	}
	return names
}

// hide records who can use a name. In some languages the defining line says so.
func (n *Name) hide(line []byte) {
	switch {
	case privately.Match(line):
		n.hidden = "file"
	case strings.HasSuffix(n.Path, ".go") && !('A' <= n.Name[0] && n.Name[0] <= 'Z'):
		n.hidden = "package"
	}
}

var privately = lazyregexp.New(`^\s*(?:@\w+\s+)*(?:(?:static|final|override|inline|readonly|async)\s+)*(?:private|fileprivate)\b`)

// construct turns a constructor into its type, because code refers to a constructor by the name of the type.
func (n *Name) construct() {
	switch n.Name {
	case "initialize", "__init__", "__new__", "constructor":
		if n.In != "" && n.How != Removed && n.How != Renamed {
			n.Kind, n.Name, n.In = "type", n.In, ""
		}
	}
}

// unused reports whether other code cannot refer to a definition: it is within a function or, in tests, only
// a runner calls it, or it is a variable or a field.
func unused(b outline.Block, test bool) bool {
	return b.Local || b.Kind == "test" || test && (uncalled.MatchString(b.Name) || b.Kind == "var" || b.Kind == "const" || b.Kind == "field")
}

// inline reports which blocks of a file are in a module of tests.
func inline(blocks []outline.Block) []bool {
	within, end := make([]bool, len(blocks)), 0 // of the modules so far: a block follows the block around it
	for i, b := range blocks {
		if b.Kind == "module" && testModule.MatchString(b.Name) {
			end = max(end, b.End)
		}
		within[i] = b.End <= end
	}
	return within
}

var testModule = lazyregexp.New(`^(?:\w+_)?tests?$`)

func byTitle(blocks []outline.Block) map[string]outline.Block {
	all := map[string]outline.Block{}
	for _, b := range blocks {
		if _, twice := all[b.Title()]; !twice {
			all[b.Title()] = b
		}
	}
	return all
}

// filled returns the numbers of the lines that are not blank, in order.
func filled(lines map[int]string) (all []int) {
	for line, text := range lines {
		if strings.TrimSpace(text) != "" {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

// hit reports whether one of the lines from first to last was changed.
func hit(changed []int, first, last int) bool {
	at, _ := slices.BinarySearch(changed, first)
	return at < len(changed) && changed[at] <= last
}

// owners returns the blocks to which changed lines belong themselves, and not to a block within them. A module has no
// lines of its own: its lines belong to what it contains.
func owners(blocks []outline.Block, changed map[int]string) map[outline.Block]bool {
	all := map[outline.Block]bool{}
	owner := outline.ByLine(blocks, func(b outline.Block) bool { return !b.Local && b.Kind != "test" })
	for line, text := range changed {
		if b, ok := owner(line); ok && b.Kind != "module" && strings.TrimSpace(text) != "" && (b.Callable() || !comment.MatchString(text)) {
			all[b] = true
		}
	}
	return all
}

// comment matches a line that is only a comment, in most languages.
var comment = lazyregexp.New(`^\s*(?://|#|/?\*|--|<!--|"""|''')`)

const (
	// maxCompared bounds the words in the pairs of definitions of one file that are compared, which takes seconds.
	maxCompared = 1 << 27
	// perPair is how many words a pair counts as, however short it is: so long does it take.
	perPair = 32
	// maxTexts bounds the lines of all definitions of one file, in bytes: thousands of definitions can share their lines.
	maxTexts = 8 * maxFile
)

// pairRenamed combines a removed and an added definition with nearly the same text into a renamed one. It
// clears the kind of the other entry.
func pairRenamed(names []Name, s worktree.Sides) {
	if !slices.ContainsFunc(names, func(n Name) bool { return n.How == Removed }) {
		return
	}
	before, after := bytes.Split(s.Before, []byte("\n")), bytes.Split(s.After, []byte("\n"))
	texts, left := make([]map[string]int, len(names)), maxTexts // each is read once: a generated file has thousands
	for i, n := range names {
		lines := after
		if n.How == Removed {
			lines = before
		} else if n.How != Added {
			continue
		}
		texts[i] = map[string]int{}
		for _, line := range lines[min(n.Line-1, len(lines)):min(n.last, len(lines))] {
			if left -= len(line); left < 0 {
				return
			}
			for _, w := range parts(string(line)) {
				if w != n.Name {
					texts[i][w]++
				}
			}
		}
	}
	left = maxCompared
	for i, gone := range names {
		if gone.How != Removed {
			continue
		}
		best, at := 0.0, -1
		for k, came := range names {
			if left--; left < 0 {
				return
			}
			if came.How != Added || came.Kind != gone.Kind || came.In != gone.In && came.Name != gone.Name {
				continue
			}
			left -= perPair + len(texts[i]) + len(texts[k])
			if alike := likeness(texts[i], texts[k]); alike > best {
				best, at = alike, k
			}
		}
		if at >= 0 && best >= 0.6 {
			names[i].How, names[i].To = Renamed, names[at].title()
			names[at].Kind = "" // reported with the other entry
		}
	}
}

// likeness returns the proportion of common words in two texts, from 0 to 1.
func likeness(a, b map[string]int) float64 {
	same, all := 0, 0
	for w, n := range a {
		same += 2 * min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return float64(same) / float64(all)
}

// use records what the lines of a file use, remove and import.
func (c *changed) use(file string, head []byte, test bool, lines lineChanges) {
	c.looked += len(lines.added) + len(lines.removed)
	if !outline.Knows(file) {
		return
	}
	if c.looked > maxLooked {
		c.passed++
		return
	}
	text := string(head)
	values := valuesOf(file, text)
	for _, m := range mentions(file, test, lines) {
		if m.in = m.of; !typeLike(m.of) {
			m.in = values.typeOf(m.of)
		}
		if m.of != "" && m.in == "" && everyday[m.name] && !itself[m.of] && !strings.HasSuffix(file, ".go") {
			continue
		}
		c.mentions = append(c.mentions, m)
	}
	if !test {
		c.shapes = append(c.shapes, shapes(file, lines)...)
		c.imports = append(c.imports, imports(file, text, lines)...)
	}
}

// maxLooked bounds the changed lines that are searched for used names. In a larger change only the first
// files are searched.
const maxLooked = 3000

// uncalled matches functions of tests that only a runner calls.
var uncalled = lazyregexp.New(`^(?i:test|benchmark|fuzz|example|setup$|teardown$|set_up$|tear_down$)|^(?:beforeEach|afterEach` +
	`|beforeAll|afterAll)$`)
