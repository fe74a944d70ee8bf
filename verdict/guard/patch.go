package guard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// patch is a change made ready for the families: both sides as lines.
type patch struct {
	files []*file
	names []string // as in Change
}

type file struct {
	old, new side
}

// side is a file before or after the change. A side that is not there has the
// empty path.
type side struct {
	path  string
	text  string
	lines []string
}

func (f *file) path() string {
	if f.new.path != "" {
		return f.new.path
	}
	return f.old.path
}

func (f *file) added() bool   { return f.old.path == "" }
func (f *file) deleted() bool { return f.new.path == "" }

// newPatch leaves out what no family looks at, and reports what is too large.
func newPatch(change Change) (*patch, []Hit) {
	p, hits, total := &patch{names: change.Names}, []Hit(nil), 0
	for _, c := range change.Files {
		if !Examines(c.Path) && !Examines(c.OldPath) {
			continue
		}
		total += len(c.Before) + len(c.After)
		if c.Unread || max(len(c.Before), len(c.After)) > MaxFile || total > MaxChange {
			total -= len(c.Before) + len(c.After)
			f := file{old: side{path: c.OldPath}, new: side{path: c.Path}}
			hits = append(hits, Hit{Kind: Unexamined, Path: f.path(),
				Why: fmt.Sprintf("The file is larger than the guard examines (%d MiB, %d MiB in all); a person has to look.", MaxFile>>20, MaxChange>>20)})
			continue
		}
		f := file{old: newSide(c.OldPath, c.Before), new: newSide(c.Path, c.After)}
		if !misplaced(c, change.Files) {
			p.files = append(p.files, &f)
			continue
		}
		p.files = append(p.files, &file{old: f.old}, &file{new: f.new})
	}
	return p, hits
}

// misplaced reports whether a file moved to where what runs by its name no longer
// finds it: it is one file gone and another one new. A configuration may move along
// with the code of its folder.
func misplaced(c File, all []File) bool {
	from, to := path.Dir(c.OldPath), path.Dir(c.Path)
	switch {
	case c.Path == "" || c.OldPath == "" || c.Path == c.OldPath:
		return false
	case isWorkflow(c.OldPath):
		return !isWorkflow(c.Path)
	case len(nearestTools(c.OldPath)) == 0 || within(from, to):
		return false
	}
	return from == "." || !slices.ContainsFunc(all, func(f File) bool {
		return languageOf(f.OldPath) != "" && f.OldPath != c.OldPath && within(path.Dir(f.OldPath), from) && within(path.Dir(f.Path), to) && f.Path != ""
	})
}

func newSide(name string, content []byte) side {
	if name == "" {
		return side{}
	}
	text := strings.ReplaceAll(decode(content), "\r\n", "\n")
	return side{path: name, text: text, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
}

// decode reads UTF-8, and UTF-16 that says so by its byte order mark, as editors of
// C# and PowerShell write it.
func decode(content []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(content, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(content, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		return strings.ToValidUTF8(strings.TrimPrefix(string(content), "\uFEFF"), "\uFFFD")
	}
	units := make([]uint16, 0, len(content)/2)
	for i := 2; i+1 < len(content); i += 2 {
		units = append(units, order.Uint16(content[i:]))
	}
	return string(utf16.Decode(units))
}

func (s side) base() string { return path.Base(s.path) }

// at is a line as people see it; "" beyond the ends. Lines count from 1.
func (s side) at(line int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	return strings.TrimSpace(s.lines[line-1])
}

// Examines reports whether the contents of a file of this name can play a part
// in any hit, so that others need not be read.
func Examines(name string) bool {
	return name != "" && (languageOf(name) != "" || len(toolsOf(name)) > 0 || isSnapshot(name) || isPipeline(name) || isPolicy(name) || isModule(name))
}

// matches reports whether a path fits one of the patterns. A pattern without a
// slash is matched against the last element; "**/" at its beginning stands for
// any number of directories, "/**" at its end for everything below.
func matches(name string, patterns ...string) bool {
	for _, pattern := range patterns {
		if rest, ok := strings.CutSuffix(pattern, "/**"); ok {
			if strings.HasPrefix(name, rest+"/") {
				return true
			}
			continue
		}
		subject := name
		if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
			pattern = rest
			parts := strings.Split(name, "/")
			subject = strings.Join(parts[max(0, len(parts)-1-strings.Count(rest, "/")):], "/")
		} else if !strings.Contains(pattern, "/") {
			subject = path.Base(name)
		}
		if ok, err := path.Match(pattern, subject); err == nil && ok {
			return true
		}
	}
	return false
}

var token = regexp.MustCompile(`[\pL_][\pL\pN_]*|\d+(?:\.\d+)?|"[^"\n]{1,80}"|'[^'\n]{1,80}'`)

// tokens is the set of names, numbers and short strings in some lines.
func tokens(lines []string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines {
		for _, t := range token.FindAllString(line, -1) {
			set[strings.Trim(t, `"'`)] = true
		}
	}
	return set
}

// share is how much of a is in b, from 0 to 1.
func share(a, b map[string]bool) float64 {
	if len(a) == 0 {
		return 0
	}
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// quoted reports whether position at of a line lies within a string.
func quoted(line string, at int) bool {
	var open byte
	for i := 0; i < at; i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case open == 0 && (c == '"' || c == '`' || c == '\'' && !letterBefore(line, i)):
			open = c
		case c == open:
			open = 0
		}
	}
	return open != 0
}

// letterBefore tells the apostrophe of "don't" from a quote.
func letterBefore(line string, i int) bool {
	return i > 0 && (line[i-1]|0x20 >= 'a' && line[i-1]|0x20 <= 'z')
}

// clip shortens a text at a rune's boundary.
func clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
