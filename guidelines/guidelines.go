// Package guidelines owns the rules that a review cites: the embedded Markdown documents, their parser, and
// the initial instructions of each role.
//
// A rule is a row of a table with its own id, such as "security/S3". A repository adds or replaces whole
// documents; the caller reads them, always from the base branch, so that a change cannot relax the rules by
// which it is judged. README.md beside this file explains how to write a rule and what a scope may contain.
//
// The package reads its embedded files and stores nothing.
package guidelines

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"touchstone/verdict"
)

// Set is a set of guideline documents in reading order: the index, severity, then the documents of each
// dimension, then documents without a dimension. No two documents have the same name, and so no two rows have
// the same id.
type Set struct {
	Documents []Document
}

// Document is one guideline document, made by Parse.
type Document struct {
	// Name is the file's name without ".md", and the first half of its rows' ids.
	Name string
	// Title is the first heading, without the dimension's tag.
	Title string
	// Dimension is the tag at the front of the first heading, such as "Security", or empty for a document
	// without a dimension.
	Dimension string
	// Text is the whole Markdown with LF line ends, without a byte order mark, and with one line feed at its
	// end.
	Text string
	// Rows are the rules, in the order written. In a Set, a later document may have replaced or switched off
	// some of them.
	Rows []Row
	// Amendments are this document's rows that replace or switch off rows of other documents.
	Amendments []Row

	passages []passage
}

// passage is a piece of a document: prose, an example, or the place of a table
// of rules.
type passage struct {
	text     string // of prose and examples, without blank lines around it
	example  string // the id of the row that the example illustrates, if any
	table    bool
	from, to int // the rows of the table, as indices of Document.Rows
}

// Off is the severity of a row that switches another off, or is switched off.
const Off = "off"

// Row is one rule.
type Row struct {
	// ID is what a finding cites: the document's name, a slash and the row's own mark, such as "security/S3".
	// Its meaning never changes.
	ID string
	// Document is the name of the document to which the row belongs.
	Document string
	// Severity is critical, major, minor, nit or Off, or two levels as in "major or nit", the graver first.
	// The reach of a finding decides between the two.
	Severity string
	// Scope decides to which changes the row applies.
	Scope Scope
	// Criterion is the sentence that the change has to satisfy; for a row that is off, the reason.
	Criterion string
	// Source is the name of the document in which the row is written; it differs from Document if the row was
	// amended.
	Source string
	// Line is the row's 1-based line in Source.
	Line int
	// Checkable says that a machine can check the row: a type, a lint rule or a CI guard. The row is then marked
	// with a star behind its id.
	Checkable bool
}

// checkableMark stands behind the id of a row that a machine can check. A prompt does not show it.
const checkableMark = "*"

// marked is the row's id as its document has it.
func (r Row) marked() string {
	if r.Checkable {
		return r.ID + checkableMark
	}
	return r.ID
}

// Worst returns the graver level of the severity.
func (r Row) Worst() string { worst, _ := levels(r.Severity); return worst }

// Mildest returns the level below which no finding of the row may fall.
func (r Row) Mildest() string { _, mildest := levels(r.Severity); return mildest }

// levels returns the one or two levels of a severity.
func levels(severity string) (worst, mildest string) {
	worst, mildest, _ = strings.Cut(severity, " or ")
	return worst, cmp.Or(mildest, worst)
}

// Row returns the rule with the given id, such as "security/S3", unless it is
// switched off.
func (s Set) Row(id string) (Row, bool) {
	for _, doc := range s.Documents {
		for _, row := range doc.Rows {
			if row.ID == id && row.Severity != Off {
				return row, true
			}
		}
	}
	return Row{}, false
}

// Version identifies the set's content: 12 hexadecimal digits, the same on every platform. It changes with a
// document's name or text, and with the amendments of a document.
func (s Set) Version() string {
	hash := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			// The length keeps the end of one part from being read as the start of the next.
			fmt.Fprintf(hash, "%d\n%s", len(part), part)
		}
	}
	for _, doc := range s.Documents {
		write(doc.Name, doc.Text)
		for _, row := range doc.Rows {
			if row.Source != doc.Name {
				write(row.marked(), row.Severity, row.Scope.String(), row.Criterion)
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// Overlay returns a new set in which docs replace the documents of the same name and are otherwise inserted
// at their place in the reading order. Of two docs with one name the later wins. Then their amendments
// replace single rows, in reading order. An amendment whose row does not exist adds the row to its own
// document or, if it is off, does nothing. The receiver stays unchanged.
func (s Set) Overlay(docs ...Document) Set {
	merged := slices.Clone(s.Documents)
	laid := map[string]bool{}
	for _, doc := range docs {
		laid[doc.Name] = true
		if i := slices.IndexFunc(merged, byName(doc.Name)); i >= 0 {
			merged[i] = doc
		} else {
			merged = append(merged, doc)
		}
	}
	slices.SortStableFunc(merged, func(a, b Document) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name, b.Name))
	})
	for i := range merged {
		if laid[merged[i].Name] {
			amend(merged, i)
		}
	}
	return Set{Documents: merged}
}

// amend applies the amendments of docs[by] to the rows of the others.
func amend(docs []Document, by int) {
	for _, amendment := range docs[by].Amendments {
		at, row := by, -1
		if i := slices.IndexFunc(docs, byName(amendment.Document)); i >= 0 {
			if j := slices.IndexFunc(docs[i].Rows, func(r Row) bool { return r.ID == amendment.ID }); j >= 0 {
				at, row = i, j
			}
		}
		rows := slices.Clone(docs[at].Rows) // the original set keeps its own rows
		if row >= 0 {
			rows[row] = amendment
		} else if amendment.Severity != Off {
			rows = append(rows, amendment)
		}
		docs[at].Rows = rows
	}
}

func byName(name string) func(Document) bool {
	return func(doc Document) bool { return doc.Name == name }
}

// dimensions are the dimensions of a review, in its order, and severities those of a finding, the worst
// first.
var (
	dimensions = spellings(verdict.Dimensions())
	severities = spellings(verdict.Severities())
)

func spellings[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = string(name)
	}
	return all
}

// place returns a document's position in the reading order.
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
