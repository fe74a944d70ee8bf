// Package change holds the words that all parts of the guard share: what a pull
// request changes, and what may be said of it. It has no rules and does no I/O.
package change

import (
	"bytes"
	"slices"
)

// Tier says what a finding does to a pull request.
type Tier string

// The two tiers. A hold is what code is certain of: a person with write access has to
// approve that commit. Evidence is what code suspects: the reviewing session has to
// answer it.
const (
	Hold     Tier = "hold"
	Evidence Tier = "evidence"
)

// Kind is the family that a finding belongs to.
type Kind string

// The kinds of findings.
const (
	Threshold   Kind = "threshold"   // a number that is easier to meet, or less that is measured
	Strictness  Kind = "strictness"  // a lint, type or compiler rule gone, off, milder or narrower
	Suppression Kind = "suppression" // code told a tool to look away
	Test        Kind = "test"        // a test that is gone, skipped or emptied
	Assertion   Kind = "assertion"   // a test that more results pass
	CI          Kind = "ci"          // a check that no longer runs, or can no longer fail
	Policy      Kind = "policy"      // a guideline, owner or contributor rule weakened
	// Unexamined is what a parser could not read or a bound left out, and which could
	// have held any of the others.
	Unexamined Kind = "unexamined"
)

var rows = []Kind{Threshold, Strictness, Suppression, Test, Assertion, CI, Policy}

// Row is the guideline row behind a kind, such as "severity/Q1"; "" for [Unexamined].
func (k Kind) Row() string {
	i := slices.Index(rows, k)
	if i < 0 {
		return ""
	}
	return "severity/Q" + string(rune('1'+i))
}

// File is one file that a pull request changes.
type File struct {
	// Path is relative to the root, with forward slashes; "" when the file is gone.
	Path string
	// OldPath is where it was; "" when the file is new.
	OldPath string
	// Before and After are the whole contents; nil for the side that is not there. They
	// are read-only.
	Before, After []byte
	// Unread says that a side was too large to be handed over.
	Unread bool
}

// Name is the path at the head or, of a file that is gone, the path before.
func (f File) Name() string {
	if f.Path == "" {
		return f.OldPath
	}
	return f.Path
}

// Gains reports whether a word stands more often in the lines of a file that are no comments.
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

// Place is where a finding stands.
type Place struct {
	Path string `json:"path"`
	// Line is 1-based. It counts in the file at the head or, when After is empty because
	// something is gone, in the file before. It is 0 for the file as a whole.
	Line int `json:"line"`
	// Before and After are what is compared there, either of which may be empty.
	Before string `json:"before"`
	After  string `json:"after"`
}

// Finding is one way in which a change lowers the quality bar, or may do so.
type Finding struct {
	Tier Tier `json:"tier"`
	Kind Kind `json:"kind"`
	// Rule is the name of the rule that found it, such as "golangci/linter-off"; a rule is
	// measured and looked up by it.
	Rule string `json:"rule"`
	// Why is a sentence for the person who decides.
	Why string `json:"why"`
	Place
}
