// Package guard finds, in code and without a model, where a change lowers the
// quality bar: thresholds, lint and compiler strictness, suppressions, tests,
// assertions, CI and policy. It owns the knowledge of how such changes look in
// the usual files of the usual languages and tools; it reads values and does no
// I/O. The rules are rows Q1 to Q7 of the severity guideline.
//
// It compares what a file says before and after rather than its changed lines,
// so that what merely moved, within a file or to another one, is no hit. A test
// that goes together with the code it tests is none either. Where it cannot
// tell, it hits: a person can lift a hit, nobody sees what was missed.
package guard

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	// MaxFile bounds one side of one examined file, in bytes.
	MaxFile = 1 << 20
	// MaxChange bounds both sides of all examined files together, in bytes.
	MaxChange = 64 << 20
	// MaxHits bounds the hits of one change. One further hit of kind
	// [Unexamined] says that there were more.
	MaxHits = 200
	// maxText bounds Hit.Before and Hit.After, in bytes.
	maxText = 300
)

// Kind is the family that a hit belongs to.
type Kind string

// The kinds of hits.
const (
	Threshold   Kind = "threshold"   // a number that is easier to meet, or less that is measured
	Strictness  Kind = "strictness"  // a lint, type or compiler rule gone, off, milder or narrower
	Suppression Kind = "suppression" // code told a tool to look away
	Test        Kind = "test"        // a test that is gone, skipped or emptied
	Assertion   Kind = "assertion"   // a test that more results pass
	CI          Kind = "ci"          // a check that no longer runs, or can no longer fail
	Policy      Kind = "policy"      // a guideline, owner or contributor rule weakened
	// Unexamined is a file beyond the bounds of this package that could have
	// held any of the others.
	Unexamined Kind = "unexamined"
)

// Rule is the guideline row behind a kind, such as "severity/Q1". It is empty
// for [Unexamined].
func (k Kind) Rule() string {
	i := slices.Index([]Kind{Threshold, Strictness, Suppression, Test, Assertion, CI, Policy}, k)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("severity/Q%d", i+1)
}

// Change is everything that a pull request changes: all of its files, because
// what is gone from one may have moved to another.
type Change struct {
	// Files are those that [Examines] names, changed ones and, with both sides
	// alike, those that [Surround] adds.
	Files []File
	// Names are the paths of all changed files, examined or not. Where they are
	// nil nothing is said of expectations that changed alone: who gives only a part
	// of a pull request cannot know.
	Names []string
}

// File is one changed file.
type File struct {
	// Path is relative to the root, with forward slashes; "" when the file is gone.
	Path string
	// OldPath is where it was; "" when the file is new.
	OldPath string
	// Before and After are the whole contents. Their backing arrays are not kept.
	Before, After []byte
	// Unread says that a side was too large to be handed over. Such a file is
	// reported as [Unexamined] if its name is one that the guard examines.
	Unread bool
}

// Hit is one place where a change lowers the bar.
type Hit struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	// Line is 1-based. It counts in the file at the head or, when After is
	// empty because something is gone, in the file before. It is 0 when the hit
	// is about the whole file.
	Line int `json:"line"`
	// Before and After are the lines in question, shortened to a few hundred
	// bytes. One of them may be empty.
	Before string `json:"before"`
	After  string `json:"after"`
	// Why is a sentence for the person who decides.
	Why string `json:"why"`
}

// Examine returns the hits of a change, ordered by path and line. It never
// fails: what it cannot read it either reports as [Unexamined] or, being no
// file of a kind it knows, passes over.
func Examine(change Change) []Hit {
	p, hits := newPatch(change)
	for _, family := range []func(*patch) []Hit{
		ratchets, outranks, secluded, suppressions, pragmas, tests, snapshots, pipelines, policies,
	} {
		hits = append(hits, family(p)...)
	}
	for i := range hits {
		hits[i].Before, hits[i].After = clip(hits[i].Before), clip(hits[i].After)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	hits = slices.CompactFunc(hits, func(a, b Hit) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Kind == b.Kind && (a.After == "") == (b.After == "")
	})
	if len(hits) > MaxHits {
		more := len(hits) - MaxHits
		hits = append(hits[:MaxHits:MaxHits], Hit{Kind: Unexamined, Path: hits[MaxHits].Path,
			Why: fmt.Sprintf("%d more hits are left out here.", more)})
	}
	return hits
}
