// Package code reads source code for the guard: which tests a change deletes, skips,
// empties or loosens, and what it adds that tells a tool to look away.
//
// Files are cut into tokens by the tables in language.go, so that strings and comments
// are never code; Go is read by go/parser. Tests are found by their syntax. The tests of
// all files together are paired with those of the head, and only a test whose own text
// or marks changed can be a finding. Hold is what is certain; all else is evidence.
package code

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/junit"
)

// maxSource bounds the source of one change that is cut into tokens, in bytes. A token
// takes ten times the bytes of its text.
const maxSource = 24 << 20

// Examines reports whether a file of this path can hold a finding, or be the subject of
// a test that goes with it.
func Examines(path string) bool {
	return languageOf(path) != nil || isSubject(path)
}

// Examine returns what a change lowers in its source code. It never fails: what it
// cannot read it says in a finding of kind [change.Unexamined].
func Examine(files []change.File) []change.Finding { return ExamineWith(files, nil) }

// examination is one change that is examined.
type examination struct {
	before, after []*side
	renamed       map[*side]*side // a side of before and the same file's one of after
	vanished      vanished
	tests         pairing
	reworked      []*unit // tests at the head that are new, or that say more
	runs          *junit.Runs
	named         map[string][]*unit // the tests of before by their names; made by the first that asks
	said          map[*unit]bool     // tests that a finding was said of
	gone          int                // how many tests nothing stands for
	mentions      map[string]int     // how often each word stands at the head; made when first asked for
	texts         map[uint64]*unit   // definitions at the head by their text; made when first asked for
	findings      []change.Finding
}

// ExamineWith is [Examine] for a change whose tests ran. What ran before and does not run
// now is found whatever the code says, and what passed at the head is no finding for
// being renamed, moved or marked. Nil runs say nothing.
func ExamineWith(files []change.File, runs *junit.Runs) []change.Finding {
	x := &examination{renamed: map[*side]*side{}, runs: runs, said: map[*unit]bool{}}
	x.vanished.init()
	size := 0
	for _, f := range files {
		size += x.read(f, size)
	}
	x.vanished.settle()
	for _, s := range x.before {
		if x.renamed[s] == nil && !s.tests {
			x.vanished.removed(s)
		}
	}
	for _, s := range slices.Concat(x.before, x.after) {
		s.describe()
	}
	x.compareTests()
	x.compareRuns()
	x.compareHelpers()
	x.compareSuppressions()
	slices.SortStableFunc(x.findings, func(a, b change.Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	return slices.CompactFunc(x.findings, func(a, b change.Finding) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Rule == b.Rule && a.After == b.After
	})
}

// read parses both sides of a file, if anything in it can matter, and returns how many
// bytes it read.
func (x *examination) read(f change.File, size int) int {
	before, after := languageOf(f.OldPath), languageOf(f.Path)
	if bytes.Equal(f.Before, f.After) && before == after && isTestPath(f.OldPath) == isTestPath(f.Path) &&
		(f.OldPath == f.Path || systems(f.OldPath, f.Before) == systems(f.Path, f.After)) {
		return 0
	}
	lang := cmp.Or(before, after)
	if lang == nil {
		x.vanished.count(string(f.Before), -1)
		x.vanished.count(string(f.After), 1)
		return 0
	}
	n := len(f.Before) + len(f.After)
	if f.Unread || size+n > maxSource {
		x.unexamined(f)
		return 0
	}
	if (f.OldPath == "" || generated(f.OldPath, f.Before)) && (f.Path == "" || generated(f.Path, f.After)) {
		return 0
	}
	var old, now *side
	if f.OldPath != "" && before != nil {
		old = parse(f.OldPath, f.Before, before)
		x.before = append(x.before, old)
	}
	if f.Path != "" && after != nil {
		now = parse(f.Path, f.After, after)
		x.after = append(x.after, now)
	}
	if !old.holdsTests() && !now.holdsTests() || lang.rust {
		x.vanished.side(old, -1)
		x.vanished.side(now, 1)
	}
	if old != nil && now != nil {
		x.renamed[old] = now
		if now.broken && !old.broken {
			x.unexamined(f)
		}
	}
	return n
}

// unexamined says that a file was not read. It holds where tests stood.
func (x *examination) unexamined(f change.File) {
	tier := change.Evidence
	if isTestPath(f.OldPath) {
		tier = change.Hold
	}
	x.findings = append(x.findings, change.Finding{Tier: tier, Kind: change.Unexamined, Rule: "code/unread",
		Why: "The file is too large to be read, or is no valid source code.", Place: change.Place{Path: f.Name()}})
}

// describe computes what units are compared by.
func (s *side) describe() {
	s.skippers = map[string]bool{}
	for range maxCalls { // those that call one are some too
		again := false
		for _, u := range s.units {
			if s.tests && u.role == definition && !s.skippers[u.name] && s.skipsIn(u) {
				s.skippers[u.name], again = true, true
			}
		}
		if !again {
			break
		}
	}
	for _, u := range s.units {
		s.digestOf(u)
		if u.role != definition {
			s.markUnit(u)
		}
		if u.role == test || u.role == definition && (s.tests || u.within(group)) {
			s.claimsOf(u)
			s.rowsOf(u)
		}
	}
}

// maxCalls is over how many functions a test may be skipped.
const maxCalls = 4

// skipsIn reports whether a function skips the test that calls it.
func (s *side) skipsIn(u *unit) (found bool) {
	s.bodyMarks(u, func(e effect, _ string, _ int) { found = found || e == skips })
	return found
}

// say adds a finding at a line of a side.
func (x *examination) say(tier change.Tier, kind change.Kind, rule, why string, before, after *side, oldLine, newLine int) {
	f := change.Finding{Tier: tier, Kind: kind, Rule: rule, Why: why}
	if before != nil && oldLine > 0 {
		f.Path, f.Line, f.Before = before.path, oldLine, before.lineText(oldLine)
	}
	if after != nil && newLine > 0 {
		f.Path, f.Line, f.After = after.path, newLine, after.lineText(newLine)
	}
	x.findings = append(x.findings, f)
}

// maxText bounds the text of a finding, in bytes.
const maxText = 300

// lineText is a line without the space around it, cut to a few hundred bytes.
func (s *side) lineText(line int) string {
	if s.lines == nil {
		s.lines = append(s.lines, 0)
		for i := 0; i < len(s.text); i++ {
			if s.text[i] == '\n' {
				s.lines = append(s.lines, int32(i+1))
			}
		}
	}
	if line < 1 || line > len(s.lines) {
		return ""
	}
	rest := s.text[s.lines[line-1]:]
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.ToValidUTF8(strings.TrimSpace(rest[:min(len(rest), maxText)]), "")
}

// generated reports whether a file says in its first lines that a program wrote it, for
// Go as https://go.dev/s/generatedcode asks for it.
func generated(name string, content []byte) bool {
	for range 20 {
		line, rest, found := bytes.Cut(content, []byte("\n"))
		text := strings.TrimSpace(string(line[:min(len(line), maxText)]))
		lower := strings.ToLower(strings.TrimLeft(text, "/*#-<! "))
		switch {
		case strings.HasSuffix(name, ".go"):
			if strings.HasPrefix(text, "// Code generated ") && strings.HasSuffix(text, " DO NOT EDIT.") {
				return true
			}
		case len(lower) == len(text): // no comment
		case strings.HasPrefix(lower, "@generated"), strings.HasPrefix(lower, "auto-generated>"),
			strings.Contains(lower, "generated") && (strings.Contains(lower, "do not edit") || strings.Contains(lower, "do not modify")):
			return true
		}
		if !found {
			return false
		}
		content = rest
	}
	return false
}
