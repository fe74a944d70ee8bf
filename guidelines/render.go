package guidelines

import (
	"slices"
	"strings"

	"touchstone/verdict"
)

// Applied is a rule that a change has to satisfy, with the reason.
type Applied struct {
	Row Row
	// Why names the files, or the property of the whole change, that meet the rule's scope.
	Why string
}

// For returns the rules that apply to the change, in reading order.
func (s Set) For(change Change) []Applied {
	facts := look(change, everyKind)
	type decision struct {
		applies bool
		why     string
	}
	decided := map[string]decision{} // by scope: many rows have the same
	var applied []Applied
	for _, doc := range s.Documents {
		for _, row := range doc.Rows {
			if row.Severity == Off {
				continue
			}
			d, ok := decided[row.Scope.text]
			if !ok {
				d.applies, d.why = row.Scope.decide(facts)
				decided[row.Scope.text] = d
			}
			if d.applies {
				applied = append(applied, Applied{Row: row, Why: d.why})
			}
		}
	}
	return applied
}

// Idle returns the dimensions without any rule that applies to a change.
func (s Set) Idle(applied []Applied) []verdict.Dimension {
	of := map[string]string{} // dimensions, by document
	for _, doc := range s.Documents {
		of[doc.Name] = doc.Dimension
	}
	return slices.DeleteFunc(verdict.Dimensions(), func(d verdict.Dimension) bool {
		return slices.ContainsFunc(applied, func(a Applied) bool { return of[a.Row.Document] == string(d) })
	})
}

// RenderAll returns the documents with all rules in force. The text is the same for every change, so that a
// provider's cache keeps it from review to review.
func (s Set) RenderAll() string {
	var texts []string
	for _, doc := range s.Documents {
		texts = append(texts, doc.render(func(row Row) bool { return row.Severity != Off }))
	}
	return strings.Join(texts, "\n")
}

// render writes the document with the shown rows. A document that has rules, none of which is shown, is
// reduced to its title and a sentence.
func (d Document) render(shown func(Row) bool) string {
	ids := map[string]bool{}
	for _, row := range d.Rows {
		if shown(row) {
			ids[row.ID] = true
		}
	}
	if len(ids) == 0 && len(d.Rows) > 0 {
		title := d.Title
		if d.Dimension != "" {
			title = "[" + d.Dimension + "] " + title
		}
		return "# " + title + "\n\nNo rule of this document is in force.\n"
	}
	var parts []string
	shownUpTo := 0
	for _, p := range d.passages {
		switch {
		case p.table:
			parts = append(parts, table(d.Rows[p.from:p.to], ids))
			shownUpTo = p.to
		case p.example == "" || ids[p.example]:
			parts = append(parts, p.text)
		}
	}
	// Rows that amend missing rows are in no table of the document.
	parts = append(parts, table(d.Rows[shownUpTo:], ids))
	var text strings.Builder
	for _, part := range parts {
		if part != "" {
			text.WriteString(part + "\n\n")
		}
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// table writes the rows with the given ids as a table of rules, or nothing if there are none.
func table(rows []Row, ids map[string]bool) string {
	var lines []string
	for _, row := range rows {
		if ids[row.ID] {
			cells := []string{row.ID, row.Severity, scopeCell(row.Scope), strings.ReplaceAll(row.Criterion, "|", `\|`)}
			lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		}
	}
	if lines == nil {
		return ""
	}
	head := []string{"| " + strings.Join(tableHeader, " | ") + " |", "| --- | --- | --- | --- |"}
	return strings.Join(append(head, lines...), "\n")
}

// scopeCell keeps Markdown from reading `**/*.go` as emphasis.
func scopeCell(scope Scope) string {
	if strings.Contains(scope.text, "*") {
		return "`" + scope.text + "`"
	}
	return scope.text
}
