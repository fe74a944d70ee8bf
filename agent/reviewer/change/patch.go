package change

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"touchstone/agent/outline"
	"touchstone/agent/reviewer/hidden"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

const (
	// maxPiece and maxPieceRows limit one patch file, in bytes and lines, to what a session reads with one
	// tool call.
	maxPiece     = 64 << 10
	maxPieceRows = 1500
	// maxRow is the maximum length of a line in a patch file, in bytes. Tools that read files cut longer
	// lines.
	maxRow = 1500
)

// number writes a file's diff with line numbers. Each hunk also shows the code around it at the head, with at
// most room additional lines; wider is how many it used.
func (f *File) number(checkout *os.Root, room int) (wider int) {
	if f.Submodule {
		return 0
	}
	patch := f.Patch
	if outline.Knows(f.Path) && f.Status != "added" && f.Status != "deleted" && !f.Truncated {
		if head, err := read(checkout, f.Path, maxWide); err == nil { // if the file cannot be read, nothing is added
			patch, wider = widen(f.Path, patch, head, room)
		}
	}
	f.rows = numbered(patch)
	if f.Truncated && len(f.rows) > 0 {
		f.rows = append(f.rows, cutNote...)
	}
	f.size = len(f.rows)
	return wider
}

// patches writes the diffs of files into patch files, one after the other. It puts several small ones into
// one file, so that each tool call of a session reads enough.
type patches struct {
	dir  string
	made int // number of patch files begun
	text bytes.Buffer
	rows int
}

// heading is the line above each file's diff. No row begins like it. It explains the columns at the place
// where they are read.
const heading = "=== %s (%s, +%d -%d), piece %d\nold line, new line, change; %s continues the line above, ⟦ ⟧ show what a line hides\n"

const (
	continued = "…"
	cutNote   = "                 [the diff goes on, but is too long to be shown]\n"
)

// add writes the diff of one file, in as many pieces as needed.
func (p *patches) add(f *File) error {
	left := f.rows
	f.rows = nil
	for piece := 1; len(left) > 0; piece++ {
		if p.text.Len() > 0 && !p.holds(left) {
			if err := p.flush(); err != nil {
				return err
			}
		}
		if p.text.Len() == 0 {
			p.made++
		}
		f.Patches = append(f.Patches, filepath.Join(p.dir, fmt.Sprintf("%04d.patch", p.made)))
		fmt.Fprintf(&p.text, heading, Spell(f.Path), f.Status, f.Added, f.Deleted, piece, continued)
		for first := true; len(left) > 0; first = false {
			row := left[:bytes.IndexByte(left, '\n')+1]
			if !first && !p.holds(row) {
				break
			}
			p.text.Write(row)
			p.rows++
			left = left[len(row):]
		}
	}
	return nil
}

// holds reports whether there is room for these rows.
func (p *patches) holds(rows []byte) bool {
	return p.text.Len()+len(rows) <= maxPiece && p.rows+bytes.Count(rows, []byte("\n")) <= maxPieceRows
}

// flush ends a patch file, if one was begun.
func (p *patches) flush() error {
	if p.text.Len() == 0 {
		return nil
	}
	err := os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("%04d.patch", p.made)), p.text.Bytes(), 0o600)
	p.text.Reset()
	p.rows = 0
	return err
}

// numbered returns the hunks of a unified diff, each line with its number in the old and in the new file. It
// leaves out headers, since they repeat names verbatim. Invalid UTF-8 becomes U+FFFD, and hidden text is
// shown as package hidden reveals it.
func numbered(patch []byte) []byte {
	out := make([]byte, 0, len(patch)+numbers*bytes.Count(patch, []byte("\n")))
	for l := range diff.Lines(patch) {
		out = rows(out, l)
	}
	return out
}

// rows appends a line of a diff with its numbers, in several rows if it is long. The numbers have their own
// columns, so that no line can look like another one.
func rows(out []byte, l diff.Line) []byte {
	line := []byte(hidden.Reveal(strings.ToValidUTF8(string(l.Raw), "\uFFFD")))
	out = column(column(out, l.Old), l.New)
	for len(line) > maxRow {
		cut := maxRow
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		out = append(append(out, line[:cut]...), '\n')
		out = append(column(column(out, 0), 0), continued...)
		line = line[cut:]
	}
	return append(append(out, line...), '\n')
}

const (
	width   = 7               // of a number
	numbers = 2 * (width + 1) // bytes before each line
)

// column appends a number, right-aligned in seven characters, and a space; or blanks if the number is 0.
func column(out []byte, n int) []byte {
	if n == 0 {
		return fmt.Appendf(out, "%*s ", width, "")
	}
	return fmt.Appendf(out, "%*d ", width, n)
}

// changedLines returns the added and deleted lines of a diff, without their signs.
func changedLines(patch []byte) iter.Seq[[]byte] { return diff.Signed(patch, '+', '-') }

var submoduleLine = lazyregexp.New(`(?m)^([-+])Subproject commit ([0-9a-f]{12})`)

// submodule returns the commits from which and to which a submodule moved.
func submodule(patch []byte) (from, to string) {
	from, to = "nothing", "nothing"
	for _, m := range submoduleLine.FindAllSubmatch(patch, 2) {
		if m[1][0] == '-' {
			from = string(m[2])
		} else {
			to = string(m[2])
		}
	}
	return from, to
}

// leaves reports whether the new target of a link lies outside the repository.
func leaves(f diff.File) bool {
	for line := range diff.Signed(f.Patch, '+') {
		target := strings.ReplaceAll(string(line), `\`, "/")
		to := path.Join(path.Dir(f.Path), target)
		if path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../") || strings.Contains(target, ":") {
			return true
		}
	}
	return false
}
