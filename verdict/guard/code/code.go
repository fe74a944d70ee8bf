// Package code reads source code for the guard: which tests a change deletes, skips, empties or loosens, and
// which suppressions it adds for tools.
//
// The tables in language.go cut a file into tokens, so that strings and comments are never code, and its
// definitions and tests become units; go/parser reads Go, and mvdan.cc/sh the tests of Bats. The units of base
// and head are paired once, over all files, and each rule examines pairs: gone.go the tests without a partner,
// skip.go the marks that a test gained, weaker.go its assertions. suppression.go examines comments and annotations.
// Each form of a mark is a row: of filemark.go, headmark.go, mark.go for calls with a title, or marks.txt.
// changed.go names once what existing tests say otherwise and none of these rules reads. A certain finding is a
// hold; all others are evidence.
package code

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/junit"
)

// maxSource bounds the source of one change that is cut into tokens, in bytes. A token takes ten times as
// much memory as its text.
const maxSource = 24 << 20

// maxTests bounds the test files within that, in bytes: both sides of changed test files stay in memory until
// the last one is read, because tests move between files. The first test file is read at any size.
const maxTests = 12 << 20

// Examines reports whether a file of this name can have a finding, or be the subject of a removed test.
func Examines(name string) bool {
	return languageOf(name) != nil || subjects[strings.ToLower(path.Ext(name))] || IsData(name)
}

// examination is the examination of one change.
type examination struct {
	files         []change.File
	before, after []*side // the sides of the files whose tests changed
	subject       subject
	pairs         pairing
	standing      standing
	hidden        suppressions
	builds        map[string]string // by folder: the systems that Go builds its sources for, if not all
	runs          *junit.Runs
	named         map[string][]*unit // the tests of before by name; filled on first use
	gone          []*side            // deleted files that runners take, and that have no tests of their own
	untaken       []*unit            // the first test of each file at the head that has a name which runners do not take
	said          map[*unit]bool     // tests that already have a finding
	together      []*unit            // tests that are gone together with what they test
	deleted       []*unit            // tests that are gone for no known reason
	judged        int                // tests without a partner so far
	packages      map[string]bool    // folders that are gone with a manifest; filled on first use
	findings      []change.Finding
	vague         []change.Finding // added for files that have no other finding
	altered       []altered        // parts of test files that are not as before
	shadows       []change.Place   // where test files give a name another meaning
}

// Examine returns what a change lowers in its source code. It never fails: what it cannot read becomes a
// finding of kind [change.Unexamined]. Runs are the test runners' reports, nil if unknown. A test that ran
// before and does not run now is found even if the code looks unchanged, and a test that passed at the head
// is no finding because of a new name, place or mark.
func Examine(files []change.File, runs *junit.Runs) []change.Finding {
	x := &examination{files: files, runs: runs, said: map[*unit]bool{}, builds: map[string]string{}, standing: standingOf(files),
		subject: subject{defined: map[string]bool{}, bodies: map[uint64]bool{}, gone: map[string]bool{}, stems: map[string]bool{},
			taken: map[string][]uint64{}}}
	var read []change.File
	size, tests := 0, 0
	for _, f := range files {
		if n := x.wants(f, size, tests); n > 0 {
			size += n
			if isTestPath(f.Name()) {
				tests += n
			}
			read = append(read, f)
		}
	}
	parseAll(read, x.take)
	x.subject.settle()
	x.compareTests()
	x.compareLists(files)
	x.compareApart(files)
	x.compareReplaced(files)
	x.compareFiles()
	x.compareRuns()
	x.compareSuppressions()
	x.hints()
	x.changes()
	x.goneTogether()
	slices.SortStableFunc(x.findings, func(a, b change.Finding) int { // a hold comes first: the first of a place is kept
		return cmp.Or(byLine(a.Place, b.Place), cmp.Compare(a.Rule, b.Rule), -cmp.Compare(a.Tier, b.Tier))
	})
	return slices.CompactFunc(x.findings, func(a, b change.Finding) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Rule == b.Rule && a.After == b.After
	})
}

// wants returns how many bytes of a file to parse: 0 if nothing in the file can matter, or if the file is
// unreadable or exceeds a bound, given the bytes of other files and of tests so far. It reports the latter as
// a finding.
func (x *examination) wants(f change.File, size, tests int) int {
	was, is := languageOf(f.OldPath), languageOf(f.Path)
	lang, n := cmp.Or(was, is), len(f.Before)+len(f.After)
	same := bytes.Equal(f.Before, f.After)
	switch {
	case lang == nil:
		x.subject.beyond = x.subject.beyond || !same && !IsData(f.Name())
		return 0
	case same && was == is && isTestPath(f.OldPath) == isTestPath(f.Path) && takes(f.OldPath) == takes(f.Path) &&
		(f.OldPath == f.Path || systems(f.OldPath, f.Before) == systems(f.Path, f.After)):
		return 0
	case (f.OldPath == "" || generated(f.OldPath, f.Before)) && (f.Path == "" || generated(f.Path, f.After)):
		return 0
	case f.Unread || size+n > maxSource || tests > 0 && tests+n > maxTests && isTestPath(f.Name()):
		x.unexamined(f)
		return 0
	}
	return max(n, 1)
}

// take adds a parsed file. It keeps the file's sides only if a test, or a function that tests call, is not
// the same.
func (x *examination) take(p parsed) {
	f, old, now := p.file, p.before, p.after
	if old != nil && now != nil {
		old.other, now.other = now, old
		if now.broken && !old.broken {
			x.unexamined(f)
		}
		if now.lang.rust {
			x.compareExamples(old, now)
			x.compareDenied(old, now)
			x.compareModules(old, now)
		}
		x.compareNever(old, now)
		x.compareResult(old, now)
		if around := (pair{old.around(), now.around()}); around.before != nil && around.after != nil {
			x.compareLimits(patienceOf(around.before), patienceOf(around.after), old, now)
			x.alter(around)
			x.shadow(old, now)
		}
	}
	if now != nil {
		x.compareAware(old, now)
	}
	x.hidden.see(old, now)
	x.doubt(old, now)
	x.renamed(old, now)
	if !old.holdsTests() && !now.holdsTests() || cmp.Or(languageOf(f.OldPath), languageOf(f.Path)).rust {
		if now != nil && len(now.marks) > 0 && now.marks[0].effect == built {
			x.builds[path.Dir(f.Path)] = now.marks[0].cond
		}
		x.subject.see(old, now)
	}
	if x.runs == nil && old.sameTests(now) {
		return
	}
	if old != nil {
		if now == nil && f.Path != "" {
			old.left = parse(old.path, f.After, old.lang)
		}
		x.before = append(x.before, old)
	}
	if now != nil {
		x.after = append(x.after, now)
	}
}

// sameTests reports whether two sides of a file have the same tests, and the same
// functions that tests call, in the same order.
func (s *side) sameTests(other *side) bool {
	return s != nil && other != nil && slices.EqualFunc(s.marks, other.marks, mark.like) &&
		slices.EqualFunc(s.guards, other.guards, func(b, a guard) bool { return b.cond == a.cond }) &&
		slices.EqualFunc(s.checked(), other.checked(), func(b, a *unit) bool {
			return b.role == a.role && b.whole == a.whole && b.path() == a.path() && slices.EqualFunc(b.effective(), a.effective(), mark.like)
		})
}

// unexamined says that a file was not read.
func (x *examination) unexamined(f change.File) {
	x.say(change.Evidence, change.Unexamined, "code/unread", "The file is too large to be read, or is no valid source code.",
		change.Place{Path: f.Name()})
}

// doubt says in which new line of a test file it is not certain what is code.
func (x *examination) doubt(old, now *side) {
	if now == nil || !now.tests {
		return
	}
	had := map[string]bool{}
	if old != nil {
		for _, line := range old.unsure {
			had[old.lineText(line)] = true
		}
	}
	for _, line := range now.unsure {
		if !had[now.lineText(line)] {
			x.say(change.Evidence, change.Unexamined, "code/unsure",
				"Compilers may read this line otherwise: it is not certain which part of it, and of what follows, is code.", now.headAt(line))
			return
		}
	}
}

// say adds a finding.
func (x *examination) say(tier change.Tier, kind change.Kind, rule, why string, at change.Place) {
	x.findings = append(x.findings, change.Finding{Tier: tier, Kind: kind, Rule: rule, Why: why, Place: at})
}

// baseAt is a line of a side at the base, headAt one at the head, and bothAt one at the head in place of one at the base.
func (s *side) baseAt(line int) change.Place {
	return change.Place{Path: s.path, Line: line, Before: s.lineText(line)}
}

func (s *side) headAt(line int) change.Place {
	return change.Place{Path: s.path, Line: line, After: s.lineText(line)}
}

func bothAt(before *side, was int, after *side, is int) change.Place {
	at := after.headAt(is)
	at.Before = before.lineText(was)
	return at
}

// maxText bounds the text of a finding, in bytes.
const maxText = 300

// lineText is a line without the space around it, cut to maxText bytes.
func (s *side) lineText(line int) string {
	at := max(line, 1) - 1
	if at >= len(s.starts) {
		return ""
	}
	return lineOf(s.text[s.starts[at]:])
}

// lineOf is the first line of a text in that form.
func lineOf(text string) string {
	text, _, _ = strings.Cut(text[:min(len(text), maxText)], "\n")
	return strings.ToValidUTF8(strings.TrimSpace(text), "")
}

// generated reports whether the first lines of a file say that a program wrote it. A Go file, known by its
// name, needs a line in the form of https://go.dev/s/generatedcode.
func generated(name string, content []byte) bool {
	made, closed := false, false
	for range 20 {
		line, rest, found := bytes.Cut(content, []byte("\n"))
		text := strings.TrimSpace(string(line[:min(len(line), maxText)]))
		lower := strings.ToLower(strings.TrimLeft(text, "/*#-<! "))
		switch {
		case strings.HasSuffix(name, ".go"):
			if strings.HasPrefix(text, "// Code generated ") && strings.HasSuffix(text, " DO NOT EDIT.") {
				return true
			}
		case len(lower) == len(text): // not a comment
		case strings.HasPrefix(lower, "@generated"), strings.HasPrefix(lower, "auto-generated>"), strings.HasPrefix(lower, "auto-generated />"),
			strings.Contains(lower, "code generated automatically"):
			return true
		default:
			made = made || strings.Contains(lower, "generated")
			lower = strings.Replace(lower, "do not manually ", "do not ", 1)
			closed = closed || strings.Contains(lower, "do not edit") || strings.Contains(lower, "do not modify")
			if made && closed {
				return true
			}
		}
		if !found {
			return false
		}
		content = rest
	}
	return false
}
