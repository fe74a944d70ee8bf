// Package change defines the types that all parts of the guard share: the changes of a pull request, and the
// findings about them. It has no rules and does no I/O.
package change

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Tier is the effect of a finding on a pull request.
type Tier string

// The two tiers. A hold is what code is certain of: a person with write access has to approve that commit.
// Evidence is what code suspects: the reviewing session has to answer it.
const (
	Hold     Tier = "hold"
	Evidence Tier = "evidence"
)

// HoldIf is a hold of what is certain, and evidence of what is not.
func HoldIf(certain bool) Tier {
	if certain {
		return Hold
	}
	return Evidence
}

// Kind is the family of a finding.
type Kind string

// The kinds of findings.
const (
	Threshold   Kind = "threshold"   // a number that is easier to meet, or that measures less
	Strictness  Kind = "strictness"  // a lint, type or compiler rule removed, off, milder or narrower
	Suppression Kind = "suppression" // code that tells a tool to ignore something
	Test        Kind = "test"        // a test that was removed, skipped or emptied
	Assertion   Kind = "assertion"   // a test that accepts more results
	CI          Kind = "ci"          // a check that no longer runs, or can no longer fail
	Policy      Kind = "policy"      // a guideline, owner or contributor rule weakened
	// Unexamined is a part that a parser could not read or that exceeds a bound, and that could contain any
	// of the others.
	Unexamined Kind = "unexamined"
)

var rows = []Kind{Threshold, Strictness, Suppression, Test, Assertion, CI, Policy}

// Row returns the guideline row for a kind, such as "severity/Q1"; "" for [Unexamined].
func (k Kind) Row() string {
	i := slices.Index(rows, k)
	if i < 0 {
		return ""
	}
	return "severity/Q" + string(rune('1'+i))
}

// File is one file that a pull request changes.
type File struct {
	// Path is relative to the root, with forward slashes; "" for a deleted file.
	Path string
	// OldPath is the earlier path; "" for a new file.
	OldPath string
	// Before and After are the whole contents; nil for a missing side. They are read-only.
	Before, After []byte
	// Unread says that a side was too large to be read.
	Unread bool
}

// Name returns the path at the head or, for a deleted file, the path before.
func (f File) Name() string {
	if f.Path == "" {
		return f.OldPath
	}
	return f.Path
}

// Gains reports whether a word occurs more often in the lines of a file that are not comments.
func (f File) Gains(word string) bool {
	count := func(content []byte) (n int) {
		for line := range bytes.Lines(content) {
			if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte("#")) {
				n += bytes.Count(line, []byte(word))
			}
		}
		return n
	}
	return count(f.After) > count(f.Before)
}

// Place is the position of a finding.
type Place struct {
	Path string `json:"path"`
	// Line is 1-based, in the file at the head or, if After is empty because something was removed, in the
	// file before. It is 0 for the file as a whole.
	Line int `json:"line"`
	// Before and After are the compared texts; either may be empty.
	Before string `json:"before"`
	After  string `json:"after"`
}

// Finding is one way in which a change lowers, or may lower, the quality bar.
type Finding struct {
	Tier Tier `json:"tier"`
	Kind Kind `json:"kind"`
	// Rule is the name of the rule that made the finding, such as "golangci/linter-off". It is the key for
	// measuring the rule and looking it up.
	Rule string `json:"rule"`
	// Why is a sentence for the person who decides.
	Why string `json:"why"`
	Place
}

// These bound the text of one finding that stands for many places: the bytes that name files, and the lines of a file.
const (
	maxNames = 300
	maxLines = 5
)

// Changed returns one finding of evidence for all places of a change which no rule reads. It is at the most suspicious
// of them: a value that is another one, else something that is gone. The reason names the lines of each file in this
// order, and counts those for which there is no room.
func Changed(kind Kind, rule, what string, places []Place) Finding {
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b Place) int { return cmp.Compare(a.rank(), b.rank()) })
	var files []string
	lines := map[string][]int{}
	for _, p := range places {
		if lines[p.Path] == nil {
			files = append(files, p.Path)
		}
		lines[p.Path] = append(lines[p.Path], p.Line)
	}
	f := Finding{Tier: Evidence, Kind: kind, Rule: rule, Why: what + ", and no rule tells whether it checks less.", Place: places[0]}
	if len(places) == 1 {
		return f
	}
	var names string
	left, unnamed := len(files), len(places)
	for _, file := range files {
		name, at := strings.Map(printable, file), lines[file]
		for i, line := range at[:min(len(at), maxLines)] {
			if line > 0 { // not the file as a whole
				name += []string{":", ", "}[min(i, 1)] + strconv.Itoa(line)
			}
		}
		if more := len(at) - maxLines; more > 0 {
			name += fmt.Sprintf(" and %d more", more)
		}
		if len(names)+len(name) > maxNames {
			continue
		}
		names += "; " + name
		left, unnamed = left-1, unnamed-len(at)
	}
	if left > 0 {
		names += fmt.Sprintf("; %d more in %d files that are not named here", unnamed, left)
	}
	f.Why += fmt.Sprintf(" Read all %d places in the patches: %s.", len(places), strings.TrimPrefix(names, "; "))
	return f
}

// digits matches the digits of a value.
var digits = regexp.MustCompile(`[0-9]+`)

// rank orders what no rule reads, the most suspicious first.
func (p Place) rank() int {
	switch bare := digits.ReplaceAllString(p.Before, ""); {
	case p.Before != "" && p.After != "" && bare == digits.ReplaceAllString(p.After, ""):
		return 0
	case p.After == "":
		return 1
	}
	return 2
}

// printable drops characters that control a terminal: a name goes into prompts and reviews.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// versions matches versions and hashes.
var versions = regexp.MustCompile(`\b(?:v|net\w*?)?\d[\w.+-]*|\b[0-9a-f]{7,}\b|\blatest\b|["'#,]`)

// Unversioned returns a text without versions, hashes, quotes and commas. Texts that differ only in these check
// the same.
func Unversioned(text string) string { return strings.TrimSpace(versions.ReplaceAllString(text, "")) }

// Joined returns a text in which each line that ends in a backslash is one with the next, with a text between them, and
// blank lines in its place after it.
func Joined(text, between string) string {
	if !strings.Contains(text, "\\\n") {
		return text
	}
	var out strings.Builder
	gone := 0
	for line := range strings.Lines(text) {
		if part, goesOn := strings.CutSuffix(line, "\\\n"); goesOn {
			out.WriteString(part + between)
			gone++
			continue
		}
		out.WriteString(line + strings.Repeat("\n", gone))
		gone = 0
	}
	return out.String()
}

// Number reads a number as settings and programs write it.
func Number(text string) (float64, bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(text, "lLfFdDmM"), "_", ""), 64)
	return n, err == nil
}
