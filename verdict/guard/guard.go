// Package guard finds, in code and without a model, where a change lowers the quality
// bar. It reads values and does no I/O; what it is given is parsed once, by the parsers of
// package doc, shell and code, and compared by meaning:
//
//	ci     what pipelines check, and whether a check can fail
//	tools  how linters, compilers, test runners and coverage are set; who owns and decides
//	code   tests, assertions and suppressions in source code
//	words  what a change says of itself where none of these knows what it does
//	junit  what test runners report, which overrules what the code lets expect
//
// A finding is a hold where code is certain, and evidence where it only suspects. The
// rules are rows Q1 to Q7 of the severity guideline.
package guard

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/ci"
	"touchstone/verdict/guard/code"
	"touchstone/verdict/guard/junit"
	"touchstone/verdict/guard/tools"
	"touchstone/verdict/guard/words"
)

// What is shared with the parts of this package.
type (
	// File is one file that a pull request changes.
	File = change.File
	// Finding is one way in which a change lowers the quality bar, or may do so.
	Finding = change.Finding
	// Tier says what a finding does to a pull request.
	Tier = change.Tier
	// Kind is the family that a finding belongs to.
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
	// MaxFindings bounds the findings of one change in each tier. One further finding of
	// kind [Unexamined] says that there were more.
	MaxFindings = 200
	// maxText bounds what a finding quotes, in bytes.
	maxText = 300
)

// Change is everything that a pull request changes: all of its files, because what is
// gone from one may have moved to another.
type Change struct {
	// Files are those that [Examines] names, changed ones and, with both sides alike, those
	// that [Surround] adds.
	Files []File
	// Runs are what the test runners reported of both sides, nil if that is not known. They
	// overrule what the code lets expect.
	Runs *junit.Runs
}

// ByRuns reports whether a finding is what the test runners reported, and not what the code
// lets expect.
func ByRuns(f Finding) bool { return code.ByRuns(f.Rule) }

// Examines reports whether a file of this name can hold a finding.
func Examines(name string) bool {
	return name != "" && !vendored(name) && (Gates(name) || code.Examines(name) || checks(name))
}

// Gates reports whether the hold tier watches a file of this name: a pipeline, what it runs, the
// settings of tools, or who owns and decides.
func Gates(name string) bool {
	return name != "" && (ci.Examines(name) || tools.Examines(name) || isAttributes(name))
}

// checks reports whether a file of this name runs checks, or says what they look at: a pipeline, a
// build, or settings.
func checks(name string) bool {
	return Gates(name) || isBuild(name) || code.IsScript(name)
}

// builds are files that say how a project is built and tested, as patterns of their names.
var builds = strings.Fields("requirements*.txt Gemfile.lock CMakeLists.txt BUILD BUILD.bazel WORKSPACE meson.build configure.ac " +
	"Rakefile Dockerfile mix.exs Package.swift docker-compose* *.gradle *.kts *.cmake *.bzl *.sbt *.cfg *.toml *.yml *.yaml *.hcl")

// others are files of the same endings that say nothing of builds and checks.
var others = strings.Fields("*-lock.yaml *.lock.yml dependabot.y*ml release-drafter*.y*ml")

func isBuild(name string) bool {
	fits := func(pattern string) bool { return tools.Fits(pattern, name) }
	return slices.ContainsFunc(builds, fits) && !slices.ContainsFunc(others, fits)
}

// Examine returns the findings of a change: holds first, then evidence, each ordered by
// kind, path and line. It never fails: what it cannot read it reports as [Unexamined].
func Examine(c Change) []Finding {
	files, found := readable(c.Files)
	found = append(found, examinePart("pipelines", ci.Compare, files)...)
	found = append(found, examinePart("settings", tools.Compare, files)...)
	found = append(found, examinePart("source code", func(files []File) []Finding { return code.Examine(files, c.Runs) }, files)...)
	found = append(found, sayings(files, found)...)
	for i := range found {
		found[i].Before, found[i].After = clip(found[i].Before), clip(found[i].After)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	evidence := slices.IndexFunc(found, func(f Finding) bool { return f.Tier == Evidence })
	if evidence < 0 {
		return bound(found)
	}
	return slices.Concat(bound(found[:evidence]), bound(found[evidence:]))
}

// sayings are what words say of the files that nothing was found in.
func sayings(files []File, found []Finding) (said []Finding) {
	for _, f := range files {
		same := f.Path == f.OldPath && bytes.Equal(f.Before, f.After)
		if f.OldPath == "" || f.Path == "" || same || slices.ContainsFunc(found, func(other Finding) bool { return other.Path == f.Path }) {
			continue
		}
		looks := []func(File) (Finding, bool){spoken, words.Dropped}
		if checks(f.Path) {
			looks = append(looks, words.Turned)
		}
		if !Gates(f.Path) { // whose lists are known
			looks = append(looks, words.Listed)
		}
		for _, look := range looks {
			if one, is := look(f); is {
				said = append(said, one)
				break
			}
		}
	}
	return said
}

// spoken are the words that are new to a file, where they say what it does.
func spoken(f File) (Finding, bool) {
	switch before, after := string(f.Before), string(f.After); {
	case f.Path != f.OldPath && code.IsTest(f.OldPath):
		return words.Look(f, f.OldPath, f.Path)
	case Gates(f.Path) && !code.IsScript(f.Path):
		return words.Look(f, words.Comments(f.Before), words.Comments(f.After))
	case isBuild(f.Path), code.IsScript(f.Path):
		return words.Look(f, before, after)
	}
	return Finding{}, false
}

// examinePart runs one part. One that fails has not examined the change, and says so.
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
	more := len(found) - MaxFindings
	return append(found[:MaxFindings:MaxFindings], Finding{Tier: found[0].Tier, Kind: Unexamined, Rule: "guard/more",
		Why: fmt.Sprintf("%d more findings are left out here.", more), Place: change.Place{Path: found[MaxFindings].Path}})
}

// Group is the findings of one tier and kind, which a person decides on together.
type Group struct {
	Tier     Tier
	Kind     Kind
	Findings []Finding // at least one
}

// Groups puts findings together by tier and kind, in their order.
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

// Holds are the findings that only a person can let pass.
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
