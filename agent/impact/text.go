package impact

import (
	"fmt"
	"strconv"
	"strings"

	"touchstone/verdict"
)

// maxSheet bounds a sheet's text, in bytes; definitions get a third of it.
const maxSheet = 24 << 10

// Text returns the sheet for people and sessions, at most 24 KiB. Text from the repository is passed through
// spell, paths through path.
func (s Sheet) Text(path, spell func(string) string) string {
	var b strings.Builder
	b.WriteString("Who uses what the change touches, at its head. It is a list of places to look at, found by their names: no proof that " +
		"there are no others.\n")
	for _, note := range s.Unseen {
		b.WriteString(spell(note) + "\n")
	}
	appendix := s.appendix(path, spell)
	var unused []string
	left := 0
	heading := How(-1)
	for _, n := range s.Names {
		if len(n.Places) == 0 {
			if n.More == 0 && n.How != Added && n.How != Touched && kindOf(n.Path) != "test" {
				unused = append(unused, spell(n.title()))
			}
			continue
		}
		text := n.text(path, spell)
		if b.Len()+len(text) > maxSheet-len(appendix)-1500 {
			left++
			continue
		}
		if n.How != heading {
			heading = n.How
			fmt.Fprintf(&b, "\n## %s\n", headings[heading])
		}
		b.WriteString(text)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%d more names are used elsewhere and left out for their number; search for those that matter.\n", left)
	}
	if len(unused) > 0 {
		fmt.Fprintf(&b, "\n## Found nowhere else by name\n\n%s\n", verdict.Clip(strings.Join(unused, ", "), 1200))
	}
	return b.String() + appendix
}

var headings = [...]string{
	"Removed, and still referred to", "Renamed, and referred to by the old name", "Changed for those who use it",
	"Changed within", "New names that stand elsewhere, too",
	"Fields that changed lines read or write, and who else does",
}

// title returns a name with its kind and its type.
func (n Name) title() string {
	if n.In != "" && n.Kind != "file" {
		return n.Kind + " " + n.In + "." + n.Name
	}
	return n.Kind + " " + n.Name
}

func (n Name) text(path, spell func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s (%s", spell(n.title()), path(n.Path))
	if n.Line > 0 {
		fmt.Fprintf(&b, ":%d", n.Line)
	}
	if n.old {
		b.WriteString(" before the change")
	}
	if n.To != "" {
		b.WriteString(", now " + spell(n.To))
	}
	b.WriteString(")")
	if n.Text != "" {
		b.WriteString("  | " + spell(n.Text))
	}
	b.WriteString("\n")
	for _, p := range n.Places {
		b.WriteString(p.text(path, spell))
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

// appendix returns the part after the names: similar code, imports and definitions.
func (s Sheet) appendix(path, spell func(string) string) string {
	var b strings.Builder
	for _, a := range s.Alike {
		fmt.Fprintf(&b, "\n%s:%d before the change  | %s\n", path(a.Path), a.Line, spell(a.Text))
		for _, p := range a.Places {
			b.WriteString(p.text(path, spell))
		}
		if a.More > 0 {
			fmt.Fprintf(&b, "  and at %d more places\n", a.More)
		}
	}
	var graph strings.Builder
	for _, n := range s.Graph {
		graph.WriteString(n.text(path, spell))
	}
	text := section("What the repository's own product graph says", "\n"+clipLines(graph.String(), maxSheet/8))
	text += section("Written like a removed line, elsewhere", clipLines(b.String(), maxSheet/8))
	b.Reset()
	for _, i := range s.Imports {
		fmt.Fprintf(&b, "%s:%d  %s\n", path(i.Path), i.Line, spell(i.Text))
	}
	text += section("Imports that changed lines use", "\n"+clipLines(b.String(), maxSheet/10))
	b.Reset()
	for _, c := range s.Called {
		var one strings.Builder
		fmt.Fprintf(&one, "\n%s (%s)\n", spell(c.Title), path(c.Path))
		for i, line := range c.Lines {
			fmt.Fprintf(&one, "%6d  %s\n", c.Start+i, spell(line))
		}
		if b.Len()+one.Len() <= maxSheet/3 {
			b.WriteString(one.String())
		}
	}
	var several strings.Builder
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
	if len(s.Several) > 0 {
		b.WriteString("\nDefined in several places, and not shown:\n" + clipLines(several.String(), maxSheet/8))
	}
	return text + section("Definitions of what changed lines use", b.String())
}

// section returns a text under its heading; empty if the text is empty.
func section(heading, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "\n## " + heading + "\n" + text
}

// clipLines returns as many of the first lines of a text as fit.
func clipLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:strings.LastIndexByte(text[:most], '\n')+1] + "…\n"
}
