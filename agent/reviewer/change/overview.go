package change

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// overview writes a summary of the whole change, once for all parts.
func (c *Change) overview(dir string) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "# The change as a whole\n\n%d files to read in %d parts, %d left out. Risk tier %s: %s.\n", len(c.Files),
		len(c.Parts), len(c.LeftOut), c.Tier, c.Why)
	for i, part := range c.Parts {
		fmt.Fprintf(&text, "\n## Part %d\n\n", i+1)
		for _, f := range part {
			fmt.Fprintf(&text, "- %s\n", f.line())
			for _, p := range f.Patches {
				fmt.Fprintf(&text, "  patch: %s\n", filepath.Base(p))
			}
		}
	}
	if len(c.LeftOut) > 0 {
		text.WriteString("\n## Left out\n\n")
		for _, f := range c.LeftOut {
			fmt.Fprintf(&text, "- %s: %s\n", File{File: f.File}.line(), f.Reason)
		}
	}
	name := filepath.Join(dir, "overview.md")
	return name, os.WriteFile(name, []byte(text.String()), 0o600)
}

// line describes a file on one line.
func (f File) line() string {
	text := fmt.Sprintf("%s (%s +%d -%d)", Spell(f.Path), f.Status, f.Added, f.Deleted)
	if f.OldPath != "" && f.OldPath != f.Path {
		text += ", was " + Spell(f.OldPath)
	}
	if f.Note != "" {
		text += "; " + f.Note
	}
	return text
}
