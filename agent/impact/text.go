package impact

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSheet bounds a sheet's text in bytes, of which the called definitions get a third.
const maxSheet = 24 << 10

// Text is the sheet as people and sessions read it, at most 24 KiB. What is written in the
// repository goes through spell, a path through path.
func (s Sheet) Text(path, spell func(string) string) string {
	var b strings.Builder
	b.WriteString("Who uses what the change touches, at its head. It is a list of places to look at, found by their names: no proof that there are no others.\n")
	for _, note := range s.Unseen {
		b.WriteString(spell(note) + "\n")
	}
	called := s.calledText(path, spell)
	var unused []string
	left := 0
	heading := How(-1)
	for _, n := range s.Names {
		if len(n.Places) == 0 {
			if n.More == 0 && n.How != Added && kindOf(n.Path) != "test" {
				unused = append(unused, spell(n.title()))
			}
			continue
		}
		text := n.text(path, spell)
		if b.Len()+len(text) > maxSheet-len(called)-1500 {
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
		fmt.Fprintf(&b, "\n## Found nowhere else by name\n\n%s\n", clip(strings.Join(unused, ", "), 1200))
	}
	return b.String() + called
}

var headings = [...]string{
	"Removed, and still referred to", "Renamed, and referred to by the old name", "Changed for those who use it",
	"Changed within", "New names that stand elsewhere, too",
}

// title is a name with its kind and what it belongs to.
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
	b.WriteString(")\n")
	for _, p := range n.Places {
		b.WriteString("  " + path(p.Path) + ":" + strconv.Itoa(p.Line) + "  " + spell(p.What))
		if p.Function != "" {
			b.WriteString("  in " + spell(clip(p.Function, 80)))
		}
		b.WriteString("  | " + spell(p.Text) + "\n")
	}
	if n.More > 0 {
		fmt.Fprintf(&b, "  and at %d more places or in more files that have this name\n", n.More)
	}
	return b.String()
}

// calledText is the appendix of definitions.
func (s Sheet) calledText(path, spell func(string) string) string {
	var b strings.Builder
	for _, c := range s.Called {
		var one strings.Builder
		fmt.Fprintf(&one, "\n%s (%s)\n", spell(c.Title), path(c.Path))
		for i, line := range c.Lines {
			fmt.Fprintf(&one, "%6d  %s\n", c.Start+i, spell(line))
		}
		if b.Len()+one.Len() > maxSheet/3 {
			break
		}
		b.WriteString(one.String())
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## What the added lines call\n" + b.String()
}
