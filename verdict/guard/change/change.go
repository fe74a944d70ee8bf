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
	"unicode/utf8"
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
	// Vacant and Inhabited are the patterns that a file of owners no longer has and that fit nothing, or something, that the change leaves
	// of the base. Patterns of which the base says nothing for sure are in neither.
	Vacant, Inhabited []string
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
	// Others names further places of the same, if the finding stands for all of them, with what changed there.
	Others string `json:"others,omitempty"`
}

// Message is the reason with the further places.
func (f Finding) Message() string { return strings.TrimSpace(f.Why + " " + f.Others) }

// ManyFirst orders findings that stand for many places before the others, which say less if they are left out.
func (f Finding) ManyFirst(other Finding) int {
	return cmp.Compare(min(len(other.Others), 1), min(len(f.Others), 1))
}

// Spot is a place which no rule reads.
type Spot struct {
	Place
	// In is the test, or the function that tests use, that has it; "" if there is none.
	In string
	// What names what changed in a few words, such as "assertion".
	What string
	// Weight orders spots: 0 is the most suspicious.
	Weight int
}

// These bound the text for the places of one finding, in bytes: what changed there, their files and lines, and one line or name.
const (
	maxShown  = 550
	maxPlaces = 650
	maxQuote  = 60
)

// Changed returns one finding of evidence for all spots of a change. It is at the most suspicious of them. The others follow in
// this order by file, first with what changed, then only with their lines, and those for which there is no room are counted.
func Changed(kind Kind, rule string, spots []Spot) Finding {
	spots = slices.Clone(spots)
	slices.SortStableFunc(spots, func(a, b Spot) int { return cmp.Compare(a.Weight, b.Weight) })
	file := map[string]int{} // each in turn
	for i, s := range spots {
		if _, known := file[s.Path]; !known {
			file[s.Path] = i
		}
	}
	slices.SortStableFunc(spots, func(a, b Spot) int { return cmp.Compare(file[a.Path], file[b.Path]) })
	first := spots[0]
	f := Finding{Tier: Evidence, Kind: kind, Rule: rule, Why: first.sentence(), Place: first.Place}
	if len(spots) == 1 {
		return f
	}
	others, at, bare, left, files := "", first.Path, false, 0, map[string]bool{}
	for _, s := range spots[1:] {
		place := "; " + strings.Map(visible, strings.ReplaceAll(s.Path, "`", "")) + ":" + strconv.Itoa(s.Line)
		switch {
		case s.Path == at && bare:
			place = ", " + strconv.Itoa(s.Line)
		case s.Path == at:
			place = "; line " + strconv.Itoa(s.Line)
		}
		full := place + s.said(first.What)
		if bare = bare || len(others)+len(full) > maxShown; !bare {
			place = full
		} else if len(others)+len(place) > maxPlaces {
			left, files[s.Path] = left+1, true
			continue
		}
		others, at = others+place, s.Path
	}
	if left > 0 {
		others += fmt.Sprintf("; %d more in %d files that are not named here", left, len(files))
	}
	f.Others = fmt.Sprintf("Judge %d more: %s.", len(spots)-1, strings.TrimPrefix(others, "; "))
	return f
}

// sentence says what changed at a spot.
func (s Spot) sentence() string {
	article := "A"
	if strings.HasPrefix(s.What, "a") {
		article = "An"
	}
	does := "changed"
	switch "" {
	case s.After:
		does = "is gone"
	case s.Before:
		does = "is new"
	}
	return fmt.Sprintf("%s %s%s %s, and no rule tells whether this checks less.", article, s.What, s.in(), does)
}

func (s Spot) in() string {
	if s.In == "" {
		return ""
	}
	return " in " + quote(strings.Trim(s.In, "`")) // Kotlin writes the name of a test so
}

// said is the same of a spot behind another one, which is at what the text names.
func (s Spot) said(what string) string {
	said := s.in() + ": "
	if s.What != what {
		said += s.What + " "
	}
	was, is := s.Before, s.After
	if same := alike(was, is); max(len(was), len(is)) > maxQuote && same > 0 { // show where they part
		was, is = "…"+was[same:], "…"+is[same:]
	}
	switch "" {
	case s.After:
		return said + quote(was) + " is gone"
	case s.Before:
		return said + quote(is) + " is new"
	}
	return said + quote(was) + " → " + quote(is)
}

// maxAlike is how much of what is the same is shown of two long texts, in bytes.
const maxAlike = 20

// alike is from where to show two texts that begin alike.
func alike(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n = max(0, n-maxAlike); n > 0 && !utf8.RuneStart(a[n]); n-- {
	}
	return n
}

// quote is the beginning of a text as code.
func quote(text string) string { return Code(text, maxQuote) }

// ticks matches backquotes of which code has so many in a row only to take the room of what else changed.
var ticks = regexp.MustCompile("`{4,}")

// Code is a text as code on one line, or its beginning, if it has more than these many bytes. The text cannot end it: it stands
// between more backquotes than it has in a row. Code needs a text, since two backquotes alone begin other code.
func Code(text string, most int) string {
	text = ticks.ReplaceAllString(cmp.Or(strings.Map(visible, strings.Join(strings.Fields(text), " ")), "?"), "…")
	if len(text) > most {
		for !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + "…"
	}
	marks := "`"
	if strings.Contains(text, marks) {
		text = " " + text + " " // renderers drop one blank on each side
	}
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + text + marks
}

// digits matches the digits of a value.
var digits = regexp.MustCompile(`[0-9]+`)

// Spots are places that differ in their texts alone, the most suspicious of which have another number, or nothing any more.
func Spots(what string, places []Place) (spots []Spot) {
	for _, p := range places {
		spots = append(spots, Spot{Place: p, What: what, Weight: p.weight()})
	}
	return spots
}

func (p Place) weight() int {
	switch bare := digits.ReplaceAllString(p.Before, ""); {
	case p.Before != "" && p.After != "" && bare == digits.ReplaceAllString(p.After, ""):
		return 0
	case p.After == "":
		return 1
	}
	return 2
}

// visible drops characters that control a terminal: a name goes into prompts and reviews.
func visible(r rune) rune {
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

// Without returns what a list has more often than another one, in its order. What has one key is the same.
func Without[T any, K comparable](list, other []T, key func(T) K) (left []T) {
	had := map[K]int{}
	for _, one := range other {
		had[key(one)]++
	}
	for _, one := range list {
		if had[key(one)]--; had[key(one)] < 0 {
			left = append(left, one)
		}
	}
	return left
}

// Number reads a number as settings and programs write it.
func Number(text string) (float64, bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(text, "lLfFdDmM"), "_", ""), 64)
	return n, err == nil
}
