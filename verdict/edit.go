package verdict

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Edit replaces whole lines of a file, as a finding's suggestion proposes.
type Edit struct {
	// Finding is the id of the finding that proposes it.
	Finding string `json:"finding"`
	// Path is the file at the reviewed head. First and Last are its lines, from 1.
	Path  string `json:"path"`
	First int    `json:"first"`
	Last  int    `json:"last"`
	// Text is the new lines, without the end of the last one, at most 1,000 bytes.
	Text string `json:"text"`
	// Sum is a hash of the replaced lines and of Text, so that neither can be exchanged.
	Sum string `json:"sum"`
}

// maxEdit bounds the text of an edit, in bytes.
const maxEdit = 1_000

// ErrNoFit says that edits do not fit the file as it is: its lines differ, or two edits overlap.
var ErrNoFit = errors.New("a suggestion does not fit the lines that it is for")

// NewEdit is the edit of some lines, 1-based, of a file with this content. Result ok is false if the edit
// would change nothing or delete the lines, or if its text is too long or holds characters that readers do
// not see.
func NewEdit(finding, path string, first, last int, text string, content []byte) (e Edit, ok bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := linesOf(content)
	if first < 1 || last < first || last > len(lines) || strings.TrimSpace(text) == "" || len(text) > maxEdit || !readable(text) {
		return Edit{}, false
	}
	e = Edit{Finding: finding, Path: path, First: first, Last: last, Text: text}
	e.Sum = e.sum(lines)
	after, err := Edited(path, content, []Edit{e})
	return e, err == nil && !bytes.Equal(after, content)
}

// readable reports whether readers can see all of a text.
func readable(text string) bool {
	hidden := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
	return utf8.ValidString(text) && !strings.ContainsFunc(text, hidden)
}

// Edited is the content of the file at a path after its edits; edits of other files are ignored. New lines
// get the line ending of the lines they replace. Errors: ErrNoFit.
func Edited(path string, content []byte, edits []Edit) ([]byte, error) {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return e.Path != path })
	slices.SortFunc(edits, func(a, b Edit) int { return a.First - b.First })
	lines := linesOf(content)
	var out bytes.Buffer
	done := 0 // lines that are written
	for _, e := range edits {
		if e.First <= done || e.Last < e.First || e.Last > len(lines) || e.Sum != e.sum(lines) {
			return nil, ErrNoFit
		}
		out.Write(bytes.Join(lines[done:e.First-1], nil))
		out.Write(e.written(lines))
		done = e.Last
	}
	out.Write(bytes.Join(lines[done:], nil))
	return out.Bytes(), nil
}

// EditedFiles are the new contents, by path, of all files that edits are for. Function read returns a file's
// present content. Errors: ErrNoFit, and those of read.
func EditedFiles(edits []Edit, read func(path string) ([]byte, error)) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range edits {
		if _, done := files[e.Path]; done {
			continue
		}
		content, err := read(e.Path)
		if err == nil {
			files[e.Path], err = Edited(e.Path, content, edits)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// linesOf are the lines of a file, with their line endings.
func linesOf(content []byte) [][]byte { return slices.Collect(bytes.Lines(content)) }

// written is the text with the line endings of the file.
func (e Edit) written(lines [][]byte) []byte {
	end := "\n"
	if bytes.HasSuffix(lines[e.First-1], []byte("\r\n")) {
		end = "\r\n"
	}
	text := strings.ReplaceAll(e.Text, "\n", end)
	if bytes.HasSuffix(lines[e.Last-1], []byte("\n")) {
		text += end
	}
	return []byte(text)
}

// sum hashes the replaced lines, which must exist, and the new text.
func (e Edit) sum(lines [][]byte) string {
	return hash(string(bytes.Join(lines[e.First-1:e.Last], nil)), e.Text)
}

// Applicable are the record's edits whose findings are nits that still stand in a ledger: the record's own,
// updated with what people have said since. Edits of disputed findings are left out.
func (r Record) Applicable(l Ledger) []Edit {
	var all []Edit
	for _, e := range r.Edits {
		if entry := l.ByID(e.Finding); entry != nil && entry.Severity == Nit && entry.Stands() && entry.Status != Disputed {
			all = append(all, e)
		}
	}
	return all
}

// Applied is the ledger after edits were applied: their findings are verified. It does not change the
// receiver.
func (l Ledger) Applied(edits []Edit) Ledger {
	next := slices.Clone(l)
	for _, e := range edits {
		if entry := next.ByID(e.Finding); entry != nil {
			entry.Status = Verified
		}
	}
	return next
}

// Plain reports whether a record approves by itself: no hold, no person's lift, and nothing open but its
// ledger's findings.
func (r Record) Plain() bool {
	return r.Verdict == Approve && r.Settled && len(r.Holds) == 0 && r.Lifted == nil
}
