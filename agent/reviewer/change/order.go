package change

import (
	"cmp"
	"errors"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

const (
	// maxPart is the maximum size of one part's patches, in bytes: about a third of a session's context,
	// since the session must also look around.
	maxPart = 256 << 10
	// maxPartFiles is the maximum number of files in one part, since the answer must list them.
	maxPartFiles = 400
	// maxImports limits where a file's imports are searched, in bytes.
	maxImports = 16 << 10
	// maxOrdered is the maximum number of groups whose imports are searched. A change with more is ordered by
	// name.
	maxOrdered = 2000
	// maxSegments limits how much of a name is compared with an import, in segments from its end.
	maxSegments = 32
)

// split divides the files into parts: one if they fit, otherwise several. The order puts an imported file
// before its importers, and a test next to the file that it tests. The same change always has the same parts.
func (c *Change) split(checkout *os.Root) {
	if fits(c.Files) {
		if len(c.Files) > 0 {
			c.Parts = [][]File{c.Files}
		}
		return
	}
	var part []File
	for _, unit := range order(c.Files, func(name string) string { return top(checkout, name) }) {
		if len(part) > 0 && !fits(part, unit...) {
			c.Parts, part = append(c.Parts, part), nil
		}
		part = append(part, unit...)
	}
	c.Parts = append(c.Parts, part)
}

// fits reports whether files fit into one part.
func fits(files []File, more ...File) bool {
	size := 0
	for _, list := range [][]File{files, more} {
		for _, f := range list {
			size += f.size
		}
	}
	return size <= maxPart && len(files)+len(more) <= maxPartFiles
}

// top returns the beginning of a file at the head; empty if it cannot be read.
func top(checkout *os.Root, name string) string {
	text, err := read(checkout, name, maxImports)
	if err != nil && !errors.Is(err, errLong) {
		return ""
	}
	return string(text)
}

// order groups files with their tests, and sorts the groups so that each comes after the groups that it
// imports, except in import cycles and in very large changes. It visits the groups by name.
func order(files []File, top func(name string) string) [][]File {
	units := group(files)
	if len(units) > maxOrdered {
		return units
	}
	g := graph{units: units, named: map[string][]int{}, longest: map[string]string{}, done: make([]bool, len(units)), top: top}
	for i, unit := range units {
		if f := unit[0]; subject(f.Path) == "" { // nothing imports a test
			g.add(stem(f.Path), i)
			g.add(path.Dir(f.Path), i)
		}
	}
	for i := range units {
		g.visit(i)
	}
	return g.sorted
}

// group puts each test with the file that it tests if the change contains that file, and otherwise in its own
// group. Groups are sorted by the name of their first file.
func group(files []File) [][]File {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	tested := map[string]int{} // the number of a file's group, by directory and stem, and by stem alone
	var units [][]File
	for _, f := range files {
		if subject(f.Path) == "" {
			name := stem(f.Path)
			units = append(units, []File{f})
			tested[name] = len(units)
			if base := path.Base(name); tested["/"+base] == 0 {
				tested["/"+base] = len(units)
			} else {
				tested["/"+base] = -1 // several files have this name
			}
		}
	}
	for _, f := range files {
		name := subject(f.Path)
		if name == "" {
			continue
		}
		if i := cmp.Or(tested[path.Join(path.Dir(f.Path), name)], tested["/"+name]); i > 0 {
			units[i-1] = append(units[i-1], f)
		} else {
			units = append(units, []File{f})
		}
	}
	slices.SortStableFunc(units, func(a, b []File) int { return strings.Compare(a[0].Path, b[0].Path) })
	return units
}

// testName matches the name of a test that contains the name of what it tests. A test without one, such as
// tests.py, has no file to stand beside, whatever else calls it a test (worktree/filekind).
var testName = lazyregexp.New(`^(?:(?:test_|spec_)(.+)|(.+?)(?:_test|_spec|\.test|\.spec|-test|-spec|_unittest|Tests?|Spec|IT))$`)

// subject returns the stem of the file after which a test is named, or "" if the file is not a test.
func subject(name string) string {
	m := testName.FindStringSubmatch(path.Base(stem(name)))
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// stem returns a path without its extension.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// graph finds the units that a unit imports, and visits them first.
type graph struct {
	units [][]File
	// named maps a name to its units. A name is that of a file without its extension, or of a directory.
	// longest maps the end of a name, from a slash on, to the longest of these names.
	named   map[string][]int
	longest map[string]string
	done    []bool
	top     func(name string) string
	sorted  [][]File
}

func (g *graph) add(name string, unit int) {
	units, known := g.named[name]
	if !known {
		for end := range ends(name) {
			if end != name && len(name) > len(g.longest[end]) {
				g.longest[end] = name
			}
		}
	}
	if !known || units[len(units)-1] != unit {
		g.named[name] = append(units, unit)
	}
}

func (g *graph) visit(unit int) {
	if g.done[unit] {
		return
	}
	g.done[unit] = true
	var needs []int
	f := g.units[unit][0]
	if subject(f.Path) != "" {
		needs = append(needs, g.named[path.Dir(f.Path)]...)
	}
	seen := map[string]bool{} // since a file may say the same import any number of times
	for _, name := range imports(f.Path, g.top(f.Path)) {
		if found := g.find(name); !seen[found] {
			seen[found] = true
			needs = append(needs, g.named[found]...)
		}
	}
	slices.Sort(needs)
	for _, need := range slices.Compact(needs) {
		g.visit(need)
	}
	g.sorted = append(g.sorted, g.units[unit])
}

// find returns the name of the units that an import means, or a name of none. The name in the import may begin outside
// the repository (with a module's path), and the path of the file may begin above the import root (src/main/java). So
// one must end with the other, and the longest match wins.
func (g *graph) find(name string) string {
	if longer := g.longest[name]; longer != "" {
		return longer
	}
	for end := range ends(name) {
		if g.named[end] != nil {
			return end
		}
	}
	return ""
}

// ends yields the ends of a name that begin at a segment, the longest first.
func ends(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		end, left := name, strings.Count(name, "/")+1
		for more := true; more; left-- {
			if left <= maxSegments && !yield(end) {
				return
			}
			_, end, more = strings.Cut(end, "/")
		}
	}
}

var (
	importLine = lazyregexp.New(`^\s*(?:#\s*)?(?:pub\s+|static\s+|export\s.*|\}\s*|const\s.*|let\s.*|var\s.*)?\b(?:import|from|use` +
		`|using|require|require_relative|include|mod|load)\b(.*)$|^\s*(?:[\w.]+\s+)?("[^"]+")$`)
	quoted     = lazyregexp.New(`["'<]([^"'<>\s]+)["'>]`)
	dotted     = lazyregexp.New(`^\s*(?:static\s+|type\s+)?(\.*(?:\w+(?:(?:\.|::|\\)\w+)*)?)(?:\s+import\s+(\w+))?`)
	separators = strings.NewReplacer("::", "/", `\`, "/", ".", "/")
)

// imports returns the names that a file imports, as slash-separated paths: relative ones resolved, others as
// far as they are given. It knows the common forms of the common languages. A false match does no harm, since
// no file has its name.
func imports(name, text string) []string {
	var names []string
	dir := path.Dir(name)
	for line := range strings.SplitSeq(text, "\n") {
		m := importLine.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			continue
		}
		rest := m[1] + m[2]
		if all := quoted.FindAllStringSubmatch(rest, -1); all != nil {
			for _, q := range all {
				to := q[1]
				if strings.HasPrefix(to, ".") {
					to = path.Join(dir, to)
				}
				names = append(names, to, stem(to), path.Join(dir, stem(to)))
			}
			continue
		}
		d := dotted.FindStringSubmatch(rest)
		if d[2] != "" { // Python's from a.b import c
			names = append(names, fromDots(dir, strings.TrimSuffix(d[1], ".")+"."+d[2])...)
		}
		names = append(names, fromDots(dir, d[1])...)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" || n == "." || n == "/" })
}

// fromDots turns a dotted name into paths: the whole name, and the name without its last part, which may be a
// thing in the file.
func fromDots(dir, name string) []string {
	up := len(name) - len(strings.TrimLeft(name, "."))
	to := separators.Replace(name[up:])
	for _, root := range []string{"crate/", "self/", "super/"} {
		to = strings.TrimPrefix(to, root)
	}
	for i := range up {
		if i > 0 {
			dir = path.Dir(dir)
		}
	}
	if up > 0 {
		to = path.Join(dir, to)
	}
	return []string{to, path.Dir(to)}
}
