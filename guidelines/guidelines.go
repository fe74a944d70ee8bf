// Package guidelines owns the rules a review cites: the embedded Markdown
// documents, their parser, and the instructions each role starts from.
//
// A rule is a row of a table and has an id of its own, such as "security/S3".
// A repository adds or replaces whole documents; reading them (always from the
// base branch, so that a change cannot relax the rules it is judged by) is the
// caller's part. README.md beside this file tells how to write a rule and what
// a scope may say.
//
// The package reads its embedded files and stores nothing.
package guidelines

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Set is a set of guideline documents in reading order: the index, severity,
// then one dimension after the other, then documents of no dimension. No two
// documents have the same name, and so no two rows the same id.
type Set struct {
	Documents []Document
}

// Document is one parsed guideline document.
type Document struct {
	// Name is the file's name without ".md", and the first half of its rows' ids.
	Name string
	// Title is the first heading, without the dimension's tag.
	Title string
	// Dimension is the tag at the front of the first heading, such as
	// "Security", or empty for a document that belongs to no dimension.
	Dimension string
	// Text is the whole Markdown with LF line ends, no byte order mark, and
	// one line feed at its end.
	Text string
	// Rows are the rules, in the order written.
	Rows []Row
}

// Row is one rule.
type Row struct {
	// ID is what a finding cites: the document's name, a slash and the row's
	// own mark, such as "security/S3". It never changes its meaning.
	ID string
	// Document is the name of the document that holds the row.
	Document string
	// Severity is critical, major, minor or nit.
	Severity string
	// Scope says which changes the row is about, in the grammar of README.md.
	Scope string
	// Criterion is the sentence that the change has to satisfy.
	Criterion string
}

// Row returns the rule with the given id, such as "security/S3".
func (s Set) Row(id string) (Row, bool) {
	for _, doc := range s.Documents {
		for _, row := range doc.Rows {
			if row.ID == id {
				return row, true
			}
		}
	}
	return Row{}, false
}

// Version identifies the set's content: 12 hexadecimal digits, the same on
// every platform, and different as soon as a document's name or text differs.
func (s Set) Version() string {
	hash := sha256.New()
	for _, doc := range s.Documents {
		// The lengths keep the end of one part from passing as the start of the next.
		fmt.Fprintf(hash, "%d %d\n", len(doc.Name), len(doc.Text))
		io.WriteString(hash, doc.Name)
		io.WriteString(hash, doc.Text)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// Render returns the documents one after the other, for the part of a prompt
// that stays the same from review to review.
func (s Set) Render() string {
	texts := make([]string, len(s.Documents))
	for i, doc := range s.Documents {
		texts[i] = doc.Text
	}
	return strings.Join(texts, "\n")
}

// Overlay returns a new set in which docs replace the documents of the same
// name and join the others at their place in the reading order. Of two docs
// with one name the later wins. The receiver stays as it is.
func (s Set) Overlay(docs ...Document) Set {
	merged := slices.Clone(s.Documents)
	for _, doc := range docs {
		sameName := func(other Document) bool { return other.Name == doc.Name }
		if i := slices.IndexFunc(merged, sameName); i >= 0 {
			merged[i] = doc
		} else {
			merged = append(merged, doc)
		}
	}
	slices.SortStableFunc(merged, func(a, b Document) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name, b.Name))
	})
	return Set{Documents: merged}
}

// dimensions are the nine a review walks, in that order.
var dimensions = []string{
	"Graph", "Architecture", "Security", "Test", "Doc",
	"Impact", "Observability", "AI-Antipattern", "Recurrence",
}

// place is where a document stands in the reading order.
func place(doc Document) int {
	switch {
	case doc.Name == "index":
		return 0
	case doc.Name == "severity":
		return 1
	case doc.Dimension != "":
		return 2 + slices.Index(dimensions, doc.Dimension)
	default:
		return 2 + len(dimensions)
	}
}
