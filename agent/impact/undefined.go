package impact

import (
	"fmt"
	"strings"

	"touchstone/verdict"
)

// Undefined is a name of Go in an added line. The package before its dot is one of this repository, and defines it in no file,
// whatever the build constraints.
type Undefined struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Name string `json:"name"` // with its package, as in the line
	// Dir is the directory of the package.
	Dir string `json:"dir"`
	// Text is the line.
	Text string `json:"text"`
}

// undefined returns the names in added lines that their packages lack; left are the files that were not searched, which may
// belong to any package. Nothing else that a repository does not define is listed, such as names in other languages, paths and
// settings: nearly all of it comes from libraries, or is made when a program runs.
func (f *finder) undefined(left int) (all []Undefined) {
	if left > 0 {
		return nil
	}
	for _, side := range f.change.golang {
		for _, m := range f.program.Missing(side.path) {
			if line, added := side.lines.added[m.Line]; added {
				all = append(all, Undefined{side.path, m.Line, m.Package + "." + m.Name, m.Dir, verdict.Clip(strings.TrimSpace(line), maxText)})
			}
		}
	}
	return all
}

func (u Undefined) text(path, spell func(string) string) string {
	return fmt.Sprintf("  %s:%d  %s, of %s  | %s\n", path(u.Path), u.Line, spell(u.Name), path(u.Dir), spell(u.Text))
}
