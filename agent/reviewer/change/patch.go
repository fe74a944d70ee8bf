package change

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"touchstone/agent/outline"
	"touchstone/agent/reviewer/hidden"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

const (
	// maxPiece and maxPieceRows bound one patch file, in bytes and lines: what a session
	// reads with one call of a tool.
	maxPiece     = 64 << 10
	maxPieceRows = 1500
	// maxRow bounds one line of a patch file, in bytes. Tools that read files cut longer ones.
	maxRow = 1500
)

// write writes a file's diff below dir, numbered, in as many pieces as it takes. Each hunk
// shows what is around it at the head, with at most room more lines; wider is how many.
func (f *File) write(dir string, checkout *os.Root, room int) (wider int, err error) {
	if f.Submodule {
		return 0, nil
	}
	patch := f.Patch
	if outline.Knows(f.Path) && f.Status != "added" && f.Status != "deleted" && !f.Truncated {
		if head, err := read(checkout, f.Path, maxWide); err == nil { // where it cannot be read, nothing is added
			patch, wider = widen(f.Path, patch, head, room)
		}
	}
	w := pieces{dir: dir, file: f}
	if err := number(patch, w.row); err != nil {
		return 0, err
	}
	return wider, w.close()
}

// pieces writes rows into one patch file after the other.
type pieces struct {
	dir  string
	file *File
	text bytes.Buffer
	rows int
}

// heading is above each piece. The columns are explained here, where they are read.
const heading = "%s (%s, +%d -%d), piece %d\nold line, new line, change; %s continues the line above, ⟦ ⟧ show what a line hides\n"

const (
	continued = "…"
	cutNote   = "                 [the diff goes on, but is too long to be shown]\n"
)

func (p *pieces) row(row []byte) error {
	if p.text.Len() > 0 && (p.text.Len()+len(row) > maxPiece || p.rows == maxPieceRows) {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if p.text.Len() == 0 {
		f := p.file
		fmt.Fprintf(&p.text, heading, Spell(f.Path), f.Status, f.Added, f.Deleted, len(f.Patches)+1, continued)
	}
	p.text.Write(row)
	p.rows++
	return nil
}

func (p *pieces) flush() error {
	name := fmt.Sprintf("%04d.patch", p.file.number)
	if n := len(p.file.Patches); n > 0 {
		name = fmt.Sprintf("%04d-%d.patch", p.file.number, n+1)
	}
	name = filepath.Join(p.dir, name)
	p.file.Patches = append(p.file.Patches, name)
	p.file.size += p.text.Len()
	err := os.WriteFile(name, p.text.Bytes(), 0o600)
	p.text.Reset()
	p.rows = 0
	return err
}

func (p *pieces) close() error {
	if p.text.Len() == 0 {
		return nil
	}
	if p.file.Truncated {
		p.text.WriteString(cutNote)
	}
	return p.flush()
}

// number passes on the hunks of a unified diff, each line with its number in the old and in
// the new file. Headers are left out, since they repeat names as they are. What is no UTF-8 is
// shown as U+FFFD, and what a line hides as package hidden reveals it.
func number(patch []byte, row func([]byte) error) error {
	var out []byte
	for l := range diff.Lines(patch) {
		out = rows(out[:0], l)
		for len(out) > 0 {
			end := bytes.IndexByte(out, '\n') + 1
			if err := row(out[:end]); err != nil {
				return err
			}
			out = out[end:]
		}
	}
	return nil
}

// rows appends a line of a diff with its numbers, in several rows if it is long. The numbers
// have columns of their own, so that no line can look like another one.
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

// column appends a number, right-aligned in seven characters and a space, or blanks for none, which is 0.
func column(out []byte, n int) []byte {
	const width = 7
	digits := ""
	if n != 0 {
		digits = strconv.Itoa(n)
	}
	for range width - len(digits) {
		out = append(out, ' ')
	}
	return append(append(out, digits...), ' ')
}

// changedLines are the added and deleted lines of a diff, without their signs.
func changedLines(patch []byte) iter.Seq[[]byte] { return diff.Signed(patch, '+', '-') }

var submoduleLine = regexp.MustCompile(`(?m)^([-+])Subproject commit ([0-9a-f]{12})`)

// submodule is from which commit to which a submodule moved.
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

// leaves reports whether the target that a link is given lies out of the repository.
func leaves(f worktree.FileDiff) bool {
	for line := range bytes.SplitSeq(f.Patch, []byte("\n")) {
		target, added := strings.CutPrefix(string(line), "+")
		if !added || strings.HasPrefix(target, "++ ") {
			continue
		}
		target = strings.ReplaceAll(target, `\`, "/")
		to := path.Join(path.Dir(f.Path), target)
		if path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../") || strings.Contains(target, ":") {
			return true
		}
	}
	return false
}
