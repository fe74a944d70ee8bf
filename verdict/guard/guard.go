// Package guard finds, in code and without a model, where a change lowers the quality bar. It reads values
// and does no I/O. The parsers of the packages doc, shell and code parse each input once, and these parts
// compare the results by meaning:
//
//	ci     what pipelines check, and whether a check can fail
//	tools  the settings of linters, compilers, test runners and coverage; who owns and decides
//	code   tests, assertions and suppressions in source code
//	words  the words of a change, where none of these parts knows what it does
//	junit  the reports of test runners, which overrule what the code suggests
//
// A finding is a hold if code is certain, and evidence if code only suspects something. Evidence is a hold if the change's
// title says that it leaves out such a check. What existing tests, pipelines, settings and scripts no longer say as before,
// and no rule reads, is evidence once for each kind in a change. The rules are rows Q1 to Q7 of the severity guideline.
package guard

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/ci"
	"touchstone/verdict/guard/code"
	"touchstone/verdict/guard/junit"
	"touchstone/verdict/guard/tools"
	"touchstone/verdict/guard/words"
)

// The types that this package shares with its parts.
type (
	// File is one file that a pull request changes.
	File = change.File
	// Finding is one way in which a change lowers, or may lower, the quality bar.
	Finding = change.Finding
	// Tier is the effect of a finding on a pull request.
	Tier = change.Tier
	// Kind is the family of a finding.
	Kind = change.Kind
)

// The tiers and the kinds.
const (
	Hold        = change.Hold
	Evidence    = change.Evidence
	Threshold   = change.Threshold
	Strictness  = change.Strictness
	Suppression = change.Suppression
	Test        = change.Test
	Assertion   = change.Assertion
	CI          = change.CI
	Policy      = change.Policy
	Unexamined  = change.Unexamined
)

const (
	// MaxFile bounds one side of one examined file, in bytes.
	MaxFile = 8 << 20
	// MaxChange bounds both sides of all examined files together, in bytes.
	MaxChange = 64 << 20
	// MaxFindings bounds the findings of one change in each tier. One further finding of kind [Unexamined]
	// says how many more there were.
	MaxFindings = 200
	// maxText bounds the text that a finding quotes, in bytes.
	maxText = 300
)

// Change is everything that a pull request changes. It has all files, because code removed from one file may
// have moved to another.
type Change struct {
	// Files are the changed files that [Examines] accepts, and the unchanged files that [Surround] adds,
	// whose two sides are the same.
	Files []File
	// Title is the change's title.
	Title string
	// Runs are the test runners' reports for both sides, nil if unknown. They overrule what the code
	// suggests.
	Runs *junit.Runs
}

// Loses reports whether a finding says that a test no longer runs, by the test runners' reports or because it
// is deleted.
func Loses(f Finding) bool { return code.Loses(f.Rule) }

// Code is a text that a finding quotes, as code on one line.
func Code(text string) string { return change.Code(text, len(text)) }

// Examines reports whether a file of this name can have a finding, or explain one.
func Examines(name string) bool {
	return name != "" && !vendored(name) && (Gates(name) || code.Examines(name) || checks(name) || words.IsShell(name) ||
		change.IsManifest(name) || change.IsLock(name) || code.IsModule(name) || change.FitsAny(descriptions, name))
}

// Gates reports whether the hold tier watches a file of this name: a pipeline, a script that it runs, the
// settings of tools, or a file that says who owns and decides.
func Gates(name string) bool {
	return name != "" && (ci.Examines(name) || tools.Examines(name) || isAttributes(name))
}

// checks reports whether a file of this name runs checks, or says what they examine: a pipeline, a build
// file, or settings.
func checks(name string) bool {
	return Gates(name) || isBuild(name) || code.IsScript(name) || limited.MatchString(name)
}

// limited matches data files whose names, or folders' names, say that they hold the limits of a check.
var limited = regexp.MustCompile(`(?i)(?:threshold|baseline|budget|limit|tolerance)[^/]*(?:/.*)?\.(?:json|ya?ml|toml)$`)

func isBuild(name string) bool {
	return (change.FitsAny(builds, name) || tools.ForTools(path.Dir(name)) && change.FitsAny(settings, name)) && !isOther(name)
}

func isOther(name string) bool { return change.FitsAny(others, name) }

// Examine returns the findings of a change: holds first, then evidence, each ordered by kind, path and line, but what says
// least is the last: whoever shows a part of them shows the others. It never fails: it reports what it cannot read as
// [Unexamined].
func Examine(c Change) []Finding {
	files, found := readable(c.Files)
	found = append(found, examinePart("pipelines", ci.Compare, files)...)
	found = append(found, examinePart("settings", tools.Compare, files)...)
	found = append(found, examinePart("source code", func(files []File) []Finding { return code.Examine(files, c.Runs) }, files)...)
	found = append(found, examinePart("ignored files", func(files []File) []Finding { return ignored(files, found) }, files)...)
	found = append(found, examinePart("words", func(files []File) []Finding { return sayings(files, found) }, files)...)
	found = append(found, examinePart("the title", func(files []File) []Finding { return announced(c.Title, files, found) }, files)...)
	for i := range found {
		found[i].Before, found[i].After = clip(found[i].Before), clip(found[i].After)
	}
	least := func(f Finding) int {
		if f.Rule == code.GoneWithCode {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(a.Tier, b.Tier), least(a)-least(b), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line))
	})
	holds := len(Holds(found))
	return slices.Concat(bound(found[:holds]), bound(found[holds:]))
}

// sayings are the findings from the words and values of files that have no other finding.
func sayings(files []File, found []Finding) (said []Finding) {
	var data []change.Place
	altered := map[Kind][]change.Place{}
	silent := func(f File) bool { // it is not new, and has no other finding
		same := f.Path == f.OldPath && bytes.Equal(f.Before, f.After)
		return f.OldPath != "" && !same && !slices.ContainsFunc(found, func(other Finding) bool { return other.Path == f.Name() })
	}
	alterations := alterations(files, silent)
	has := sync.OnceValue(func() map[string]bool { return gained(files, alterations) })
	for i, f := range files {
		if !silent(f) {
			continue
		}
		lost := func() bool {
			if !code.IsData(f.OldPath) || Gates(f.OldPath) {
				return false
			}
			place, lost := code.Lost(f)
			if lost {
				data = append(data, place)
			}
			return lost
		}
		if f.Path == "" {
			if goes(f, files) {
				altered[kindOf(f.OldPath)] = append(altered[kindOf(f.OldPath)], change.Place{Path: f.OldPath, Before: "the whole file"})
			} else if !checks(f.OldPath) {
				lost()
			}
			continue
		}
		if now, is := alterations[i]; is {
			now.Places = slices.DeleteFunc(now.Places, func(p change.Place) bool { // another file has it now
				return kindOf(f.Path) == Strictness && p.After == "" && has()[lastKey.ReplaceAllString(p.Before, "")]
			})
			altered[kindOf(f.Path)] = append(altered[kindOf(f.Path)], now.Places...)
			if now.Sure != nil {
				said = append(said, *now.Sure)
			}
			if now.Sure != nil || len(now.Places) > 0 {
				continue
			}
		}
		if lost() {
			continue
		}
		if one, is := spoken(f); is {
			said = append(said, one)
		}
	}
	said = fewer(said)
	for kind, places := range altered {
		if len(places) > 0 {
			said = append(said, change.Changed(kind, "words/changed", change.Spots("line of what says how this project is checked", places)))
		}
	}
	if len(data) > 0 {
		said = append(said, change.Changed(Assertion, "test/data", change.Spots("line of what tests read or compare with", data)))
	}
	return said
}

// alterations are what some files that say what is checked no longer say as before, by their index.
func alterations(files []File, some func(File) bool) map[int]words.Alterations {
	all := map[int]words.Alterations{}
	for i, f := range files {
		if (checks(f.OldPath) || words.IsShell(f.OldPath)) && f.Path != "" && !isOther(f.Path) && some(f) {
			all[i] = words.Altered(f, partOf(f))
		}
	}
	return all
}

// goes reports whether a deleted file ran checks, was a test or said unseen what they examine, and no new one takes its place.
func goes(f File, files []File) bool {
	hidden := tools.Watches(f.OldPath) || code.IsTestScript(f.OldPath) ||
		strings.HasPrefix(path.Base(f.OldPath), ".") && isBuild(f.OldPath) && !isOther(f.OldPath)
	return (hidden || ci.Is(f.OldPath) && gates(f.OldPath, f.Before)) && !slices.ContainsFunc(files, func(o File) bool {
		return o.OldPath == "" && kindOf(o.Path) == kindOf(f.OldPath) && checks(o.Path)
	})
}

// gained returns what some file that says what is checked has more often than before. Some of the files are read already.
func gained(files []File, read map[int]words.Alterations) map[string]bool {
	all := map[string]bool{}
	for i, f := range files {
		if !checks(f.Path) {
			continue
		}
		now, is := read[i]
		if !is {
			now.Gained = words.Gained(f)
		}
		for _, said := range now.Gained {
			all[said] = true
		}
	}
	return all
}

// lastKey matches all keys of a place but the last.
var lastKey = regexp.MustCompile(`^[^:]* `)

// kindOf is the kind of what a file says about checks.
func kindOf(name string) Kind {
	switch {
	case ci.Is(name):
		return CI
	case code.IsScript(name):
		return Test
	}
	return Strictness
}

// partOf says what the parts of a file are to the checks of a project.
func partOf(f File) func(keys, gone, fresh []string) words.Part {
	other := words.Maybe
	switch {
	case ci.Is(f.Path) && gates(f.OldPath, f.Before), code.IsScript(f.OldPath), fragment(f.Path):
		other = words.Gate
	case Gates(f.Path) && (ci.Is(f.Path) || !ci.Examines(f.Path)):
		other = words.Nothing
	}
	return func(keys, gone, fresh []string) words.Part {
		switch some, own := tools.Configures(f.Path, keys, gone, fresh); {
		case own:
			return words.Tool
		case some && other < words.Gate && !ci.Examines(f.Path):
			return words.Sure
		}
		return other
	}
}

// fragment reports whether a file of this name is probably a part of a pipeline, which another file includes.
func fragment(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return !ci.Is(name) && strings.HasPrefix(path.Ext(name), ".y") && strings.TrimPrefix(top, ".") == "ci"
}

// gates reports whether a pipeline may run for pull requests, or is called, or has the name of a check.
func gates(name string, content []byte) bool {
	p, err := ci.Read(name, content)
	return err == nil && (p.Called || p.Strength >= ci.Sometimes || p.Strength == ci.Elsewhere && words.Checks(path.Base(name)))
}

// maxSaid bounds the findings from words of one change. The last one says how many more files there are.
const maxSaid = 12

// fewer combines what is the same in several files, and what is too much.
func fewer(said []Finding) (few []Finding) {
	also := map[int]int{}
	for _, f := range said {
		i := slices.IndexFunc(few, func(o Finding) bool { return o.Rule == f.Rule && o.Before == f.Before && o.After == f.After })
		switch {
		case i < 0 && (f.Tier == Hold || len(few) < maxSaid):
			few = append(few, f)
			continue
		case i < 0:
			i = len(few) - 1
		}
		also[i]++
	}
	for i, n := range also {
		few[i].Why += fmt.Sprintf(" %d further files have such a change.", n)
	}
	return few
}

// spoken finds new words in a file, where words say what the file does.
func spoken(f File) (one Finding, is bool) {
	switch before, after := string(f.Before), string(f.After); {
	case f.Path != f.OldPath && code.IsTest(f.OldPath):
		one, is = words.Look(f, f.OldPath, f.Path)
	case Gates(f.Path) && !code.IsScript(f.Path):
		one, is = words.Look(f, words.Comments(f.Before), words.Comments(f.After))
	case isBuild(f.Path), code.IsScript(f.OldPath): // not a test that is renamed so that it does not run
		one, is = words.Look(f, before, after)
	}
	if !is && checks(f.Path) {
		return words.Turned(f)
	}
	return one, is
}

// examinePart runs one part. If the part panics, it has not examined the change, and a finding says so.
func examinePart(name string, compare func([]File) []Finding, files []File) (found []Finding) {
	defer func() {
		if r := recover(); r != nil {
			found = []Finding{{Tier: Hold, Kind: Unexamined, Rule: "guard/failed",
				Why: fmt.Sprintf("The comparison of %s failed (%v); a person has to look.", name, r)}}
		}
	}()
	return compare(files)
}

func bound(found []Finding) []Finding {
	if len(found) <= MaxFindings {
		return found
	}
	slices.SortStableFunc(found, Finding.ManyFirst)
	more := len(found) - MaxFindings
	return append(found[:MaxFindings:MaxFindings], Finding{Tier: found[0].Tier, Kind: Unexamined, Rule: "guard/more",
		Why: fmt.Sprintf("%d more findings are left out here.", more), Place: change.Place{Path: found[MaxFindings].Path}})
}

// Group is the findings of one tier and kind. A person decides on them together.
type Group struct {
	Tier     Tier
	Kind     Kind
	Findings []Finding // at least one
}

// Groups groups findings by tier and kind, in their order.
func Groups(found []Finding) []Group {
	var out []Group
	for _, f := range found {
		i := slices.IndexFunc(out, func(g Group) bool { return g.Tier == f.Tier && g.Kind == f.Kind })
		if i < 0 {
			i = len(out)
			out = append(out, Group{Tier: f.Tier, Kind: f.Kind})
		}
		out[i].Findings = append(out[i].Findings, f)
	}
	return out
}

// Holds returns the findings that only a person can approve.
func Holds(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Tier != Hold })
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
