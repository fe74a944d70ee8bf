package impact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict"
)

// maxSheet bounds a sheet's text, in bytes.
const maxSheet = 24 << 10

// intro says what a session may rely on.
const intro = `Who uses what the change touches, at its head. Text files were searched for each name as a whole word, except those that are vendored,
generated, minified, lock files, change logs or said here not to be searched. An entry marked complete lists every line that has the word
outside of the change, so that no search for it can find another. A name that is put together at run time is not found by this. Code
stands here as in the files, with its line numbers: what is shown need not be opened again.
`

// Text returns the sheet for people and sessions, at most 24 KiB. Text from the repository is passed through
// spell, paths through path.
func (s Sheet) Text(path, spell func(string) string) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString(s.notes(spell))
	opening := b.Len()
	var undefined strings.Builder
	for _, u := range s.Undefined {
		undefined.WriteString(u.text(path, spell))
	}
	b.WriteString(section("Used by added lines, and defined nowhere in the imported package of this repository\n", undefined.String(),
		maxSheet/12))
	var unused, roleless []string
	names := group{left: "%s used elsewhere and left out for their number; search for those that matter: "}
	for _, n := range s.Names {
		switch found := len(n.Places)+len(n.Also)+n.More+n.Apart > 0; {
		case found && (len(n.Places) > 0 || n.How < Added):
			names.add(headings[n.How], n.text(path, spell), spell(n.title()))
		case !found && n.others && n.How < Added:
			roleless = append(roleless, spell(n.title()))
		case !found && !n.others && n.How != Touched && kindOf(n.Path) != "test":
			unused = append(unused, spell(n.title()))
		}
	}
	called, around := group{left: "%s left out for their length: "}, group{left: "%s left out for their length: "}
	for _, c := range s.Called {
		called.add("Definitions of what changed lines use", c.text(path, spell), c.where(path, spell))
	}
	for _, c := range s.Around {
		around.add("Code around these places", c.text(path, spell), c.where(path, spell))
	}
	if len(unused) > 0 {
		fmt.Fprintf(&b, "\n## No other line of the repository has these names\n\n%s\n", verdict.Clip(strings.Join(unused, ", "), 1200))
	}
	if len(roleless) > 0 {
		fmt.Fprintf(&b, "\n## Words that no other line has as a flag, a string, a key or an attribute\n\n%s\n",
			verdict.Clip(strings.Join(roleless, ", "), 600))
	}
	appendix := s.appendix(path, spell)
	share(maxSheet-b.Len()-len(appendix), &names, &called, &around)
	found := names.String() + around.String() + called.String() + appendix
	if b.Len() == opening && found == "" {
		found = "\nNothing was found in what was read.\n"
	}
	return b.String() + found
}

const (
	// maxUnseen bounds what is said about what was not searched, maxOne each sentence of it, in bytes: paths and names in
	// them may be long.
	maxUnseen = maxSheet / 4
	maxOne    = 400
)

// notes returns what was not searched, each sentence on its own line. Of a long sentence the middle is left out.
func (s Sheet) notes(spell func(string) string) string {
	var b strings.Builder
	for i, note := range s.Unseen {
		if note = spell(note); len(note) > maxOne {
			note = strings.ToValidUTF8(note[:maxOne/2]+" … "+note[len(note)-maxOne/2:], "")
		}
		if b.Len()+len(note) > maxUnseen {
			fmt.Fprintf(&b, "Left out: %s.\n", verdict.Amount(len(s.Unseen)-i, "more sentence like these", "more sentences like these"))
			break
		}
		b.WriteString(note + "\n")
	}
	return b.String()
}

// group is a part of the sheet whose entries share what room there is, the first ones first.
type group struct {
	entries []entry
	taken   int    // how many bytes the entries take
	left    string // a sentence about the entries that are left out
}

type entry struct {
	heading, text, name string
	shown               bool
}

func (g *group) add(heading, text, name string) {
	g.entries = append(g.entries, entry{heading: heading, text: text, name: name})
}

// reserve is what headings and the sentence about what is left out take of a group's room, in bytes.
const reserve = 700

// share lets groups show as many entries as fit into so many bytes: each has the same room, and what one does
// not need is for the others.
func share(room int, groups ...*group) {
	room -= reserve * len(groups)
	slices.SortStableFunc(groups, func(a, b *group) int { return a.size() - b.size() }) // the one that needs least comes first
	for n, g := range groups {
		room -= g.take(room / (len(groups) - n))
	}
	for _, g := range groups {
		before := g.taken
		room -= g.take(before+room) - before
	}
}

func (g *group) size() (n int) {
	for _, e := range g.entries {
		n += len(e.text)
	}
	return n
}

// take shows as many entries as fit, and returns how many bytes they have.
func (g *group) take(room int) int {
	g.taken = 0
	for i := range g.entries {
		e := &g.entries[i]
		if e.shown = g.taken+len(e.text) <= room; e.shown {
			g.taken += len(e.text)
		}
	}
	return g.taken
}

// String returns the shown entries under their headings.
func (g *group) String() string {
	var b strings.Builder
	var left []string
	hidden, heading := 0, ""
	for _, e := range g.entries {
		if !e.shown {
			hidden++
			if !slices.Contains(left, e.name) { // overloads have one name, and the list is short
				left = append(left, e.name)
			}
			continue
		}
		if e.heading != heading {
			heading = e.heading
			fmt.Fprintf(&b, "\n## %s\n", heading)
		}
		b.WriteString(e.text)
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "\n"+g.left+"%s\n", verdict.Amount(hidden, "more is", "more are"), verdict.Clip(strings.Join(left, ", "), 400))
	}
	return b.String()
}

// text formats a part of a file, with line numbers.
func (c Code) text(path, spell func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s (%s)\n", spell(c.Title), path(c.Path))
	for i, l := range c.Lines {
		if i > 0 && c.Lines[i-1].Number+1 < l.Number {
			b.WriteString("     …\n")
		}
		fmt.Fprintf(&b, "%6d  %s\n", l.Number, spell(l.Text))
	}
	if c.Cut {
		b.WriteString("     …\n")
	}
	return b.String()
}

// where says what a part of a file is and where it begins.
func (c Code) where(path, spell func(string) string) string {
	return fmt.Sprintf("%s (%s:%d)", spell(c.Title), path(c.Path), c.Lines[0].Number)
}

var headings = [...]string{
	"Removed, and still referred to", "Renamed, and referred to by the old name", "Changed for those who use it",
	"Changed within", "New names that stand elsewhere, too", "No longer used here, and used elsewhere",
	"Fields that changed lines read or write, and who else does",
}

// title returns a name with its kind and its type.
func (n Name) title() string {
	if n.In != "" && n.Kind != "file" {
		return n.Kind + " " + n.In + "." + n.Name
	}
	return n.Kind + " " + n.Name
}

// complete reports whether every line that has the word is listed.
func (n Name) complete() bool {
	unsearched := func(p Position) bool { return len(p.Lines) == 0 }
	return n.How != Touched && !n.others && n.More == 0 && n.Apart == 0 && !slices.ContainsFunc(n.Also, unsearched)
}

func (n Name) text(path, spell func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s (%s", spell(n.title()), path(n.Path))
	if n.Line > 0 {
		fmt.Fprintf(&b, ":%d", n.Line)
	}
	if n.old() {
		b.WriteString(" before the change")
	}
	if n.To != "" {
		b.WriteString(", now " + spell(n.To))
	}
	b.WriteString(")")
	if n.complete() {
		b.WriteString(" complete")
	}
	if n.Text != "" {
		b.WriteString("  | " + spell(n.Text))
	}
	b.WriteString("\n")
	for _, p := range n.Places {
		b.WriteString(p.text(path, spell))
	}
	if len(n.Also) > 0 {
		b.WriteString("  the word also:")
		for _, p := range n.Also {
			b.WriteString(" " + path(p.Path))
			for i, line := range p.Lines {
				b.WriteString(map[bool]string{true: ":", false: ","}[i == 0] + strconv.Itoa(line))
			}
		}
		b.WriteString("\n")
	}
	if n.Apart > 0 {
		fmt.Fprintf(&b, "  and in %s of another language or package\n", verdict.Amount(n.Apart, "file", "files"))
	}
	if n.More > 0 {
		fmt.Fprintf(&b, "  and at %d more places or in more files that have this name\n", n.More)
	}
	return b.String()
}

// text formats a place on its own line.
func (p Place) text(path, spell func(string) string) string {
	line := "  " + path(p.Path) + ":" + strconv.Itoa(p.Line) + "  " + spell(p.What)
	if p.Function != "" {
		line += "  in " + spell(verdict.Clip(p.Function, 80))
	}
	return line + "  | " + spell(p.Text) + "\n"
}

// appendix returns the part after names and code: similar code, imports, and names of several definitions.
func (s Sheet) appendix(path, spell func(string) string) string {
	var graph, alike, imports, several strings.Builder
	for _, n := range s.Graph {
		graph.WriteString(n.text(path, spell))
	}
	for _, a := range s.Alike {
		fmt.Fprintf(&alike, "\n%s:%d before the change  | %s\n", path(a.Path), a.Line, spell(a.Text))
		for _, p := range a.Places {
			alike.WriteString(p.text(path, spell))
		}
		if a.More > 0 {
			fmt.Fprintf(&alike, "  and at %d more places\n", a.More)
		}
	}
	for _, i := range s.Imports {
		fmt.Fprintf(&imports, "%s:%d  %s\n", path(i.Path), i.Line, spell(i.Text))
	}
	for _, n := range s.Several {
		fmt.Fprintf(&several, "  %s:", spell(n.Name))
		for _, p := range n.Paths {
			several.WriteString(" " + path(p))
		}
		if n.More > 0 {
			fmt.Fprintf(&several, " and %d more", n.More)
		}
		several.WriteString("\n")
	}
	return section("What the repository's own product graph says\n", graph.String(), maxSheet/8) +
		section("Written like a removed line, elsewhere", alike.String(), maxSheet/8) +
		section("Imports that changed lines use\n", imports.String(), maxSheet/10) +
		section("Used, defined in several places, and not shown\n", several.String(), maxSheet/12)
}

// section returns as many of the first lines of a text as fit, under their heading; empty if the text is empty.
func section(heading, text string, most int) string {
	if text == "" {
		return ""
	}
	if len(text) > most {
		text = text[:strings.LastIndexByte(text[:most], '\n')+1] + "…\n"
	}
	return "\n## " + heading + "\n" + text
}
